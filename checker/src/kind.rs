//! Recognizes the kind of a file by its beginning, so that a file of the wrong kind gives one error.

use std::path::Path;

/// The kind of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    Litmus,
    Cat,
    Ptx,
    Sass,
    Llvm,
    Bitcode,
    Cuda,
    Cubin,
    Fatbin,
    Object,
}

/// The number of bytes that are examined.
const LOOKED_AT: usize = 64 << 10;

impl FileKind {
    /// The kind of a file; `None` if the beginning does not determine it.
    pub fn of(path: &Path, bytes: &[u8]) -> Option<FileKind> {
        let start = &bytes[..bytes.len().min(LOOKED_AT)];
        if let Some(kind) = binary(start) {
            return Some(kind);
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        let cuda = || matches!(ending, Some("cu" | "cuh")).then_some(FileKind::Cuda);
        text(&String::from_utf8_lossy(start)).or_else(cuda)
    }

    /// A description of the kind, and the command that reads it.
    fn told(self) -> (&'static str, &'static str) {
        match self {
            FileKind::Litmus => ("a litmus test", "use `causeway check`"),
            FileKind::Cat => ("a memory model", "use it with `causeway check --model FILE`"),
            FileKind::Ptx => (
                "a PTX module",
                "`causeway litmus` makes tests of its functions, `causeway verify` judges a launch, `causeway lint` checks each instruction",
            ),
            FileKind::Sass => (
                "a listing of SASS",
                "use `causeway sass read`, or `causeway lower` to compare it with its source",
            ),
            FileKind::Llvm => (
                "LLVM IR",
                "`causeway litmus FILE.ll --llc PATH` makes tests of its functions, `causeway lower --from FILE.ll` compares it with its PTX",
            ),
            FileKind::Bitcode => (
                "LLVM bitcode",
                "convert it to LLVM IR with `llvm-dis`; `causeway lower` reads that",
            ),
            FileKind::Cuda => (
                "CUDA C++",
                "`causeway litmus FILE.cu --nvcc PATH` compiles it and makes tests of its functions",
            ),
            FileKind::Cubin => (
                "a cubin",
                "extract its PTX with `cuobjdump -ptx`, or print its listing with `nvdisasm -c`, which `causeway sass read` reads",
            ),
            FileKind::Fatbin => (
                "a fat binary",
                "extract its code with `cuobjdump -ptx` or `cuobjdump -sass`; `causeway lint` and `causeway sass read` read that",
            ),
            FileKind::Object => (
                "an object file",
                "extract its code with `cuobjdump -ptx` or `cuobjdump -sass`; `causeway lint` and `causeway sass read` read that",
            ),
        }
    }

    /// A description of the kind.
    pub fn name(self) -> &'static str {
        self.told().0
    }

    /// The error of a command that reads another kind.
    pub fn refused(self) -> String {
        let (is, reader) = self.told();
        format!("this is {is}: {reader}")
    }
}

fn binary(bytes: &[u8]) -> Option<FileKind> {
    /// `EM_CUDA`, the machine number in an ELF header.
    const CUDA: [u8; 2] = 190_u16.to_le_bytes();
    match bytes {
        [0x7f, b'E', b'L', b'F', ..] if bytes.get(18..20) == Some(&CUDA) => Some(FileKind::Cubin),
        [0x7f, b'E', b'L', b'F', ..] | [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', ..] => {
            Some(FileKind::Object)
        }
        [0x50, 0xed, 0x55, 0xba, ..] => Some(FileKind::Fatbin),
        [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => Some(FileKind::Bitcode),
        _ => None,
    }
}

fn text(text: &str) -> Option<FileKind> {
    let code = without_comments(text);
    let line = code.lines().next().unwrap_or("").trim_end();
    let word = line.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    let starts = |starts: &[&str]| {
        let mut lines = text.lines().map(str::trim_start);
        lines.any(|line| starts.iter().any(|start| line.starts_with(start)))
    };
    let defines = starts(&["let ", "include ", "acyclic ", "irreflexive "]);
    match word {
        // The title of a model may be a word that also begins a litmus test.
        "PTX" | "SASS" | "CXX" if defines => return Some(FileKind::Cat),
        "PTX" | "SASS" | "CXX" => return Some(FileKind::Litmus),
        ".version" => return Some(FileKind::Ptx),
        "source_filename" | "target" | "define" | "declare" => return Some(FileKind::Llvm),
        "#include" | "#pragma" | "#define" | "#ifdef" | "#ifndef" | "#if" | "__global__"
        | "__device__" | "__constant__" | "template" | "namespace" | "extern" | "using"
        | "typedef" => return Some(FileKind::Cuda),
        "let" | "include" | "acyclic" | "irreflexive" | "empty" => return Some(FileKind::Cat),
        _ => {}
    }
    if starts(&["Function :", ".headerflags", "/*0000*/", "code for sm_"]) {
        return Some(FileKind::Sass);
    }
    // A title, with a definition or an axiom.
    (word.starts_with('"') && defines).then_some(FileKind::Cat)
}

/// The text without the blanks and comments at its beginning. Comments may be those of PTX and C++, of LLVM IR,
/// or of litmus tests.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = if rest.starts_with("//") || rest.starts_with(';') {
            rest.find('\n')
        } else if rest.starts_with("(*") {
            rest.find("*)").map(|end| end + 1)
        } else if rest.starts_with("/*") && !rest.starts_with("/*0") {
            rest.find("*/").map(|end| end + 1)
        } else {
            return rest;
        };
        let Some(end) = after else { return "" };
        rest = rest[end + 1..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_how_it_begins() {
        let of = |bytes: &[u8]| FileKind::of(Path::new("file"), bytes);
        let mut cubin = b"\x7fELF\x02\x01\x01".to_vec();
        cubin.resize(18, 0);
        assert_eq!(of(&[&cubin[..], &[190, 0]].concat()), Some(FileKind::Cubin));
        assert_eq!(of(&[&cubin[..], &[62, 0]].concat()), Some(FileKind::Object));
        assert_eq!(of(b"BC\xc0\xde5\x14"), Some(FileKind::Bitcode));
        assert_eq!(of(b"\x50\xed\x55\xba\x01\0"), Some(FileKind::Fatbin));
        for (text, kind) in [
            ("//\n// Generated\n\n.version 8.7\n.target sm_90\n", Some(FileKind::Ptx)),
            (".version 8.7 .target sm_90 .entry k() { ret; }", Some(FileKind::Ptx)),
            ("(* a test *)\nPTX MP\n{}\n", Some(FileKind::Litmus)),
            ("; ModuleID = 'x'\nsource_filename = \"x\"\n", Some(FileKind::Llvm)),
            ("\n\tcode for sm_90\n\t\tFunction : k\n", Some(FileKind::Sass)),
            ("        /*0000*/  LDC R1, c[0x0][0x28] ;\n", Some(FileKind::Sass)),
            ("/* copyright */\n#include <cuda.h>\n", Some(FileKind::Cuda)),
            ("\"a model\"\nlet fr = rf^-1; co\n", Some(FileKind::Cat)),
            ("PTX\n(* a model *)\nlet fr = rf^-1; co\nacyclic fr as sc\n", Some(FileKind::Cat)),
            ("(* a model *)\nacyclic po | rf as sc\n", Some(FileKind::Cat)),
            ("LDG.E R0, [R2]\nEXIT\n", None),
            ("kernel\nvoid\n", None),
            ("/* no end", None),
            ("", None),
        ] {
            assert_eq!(of(text.as_bytes()), kind, "{text}");
        }
        assert_eq!(FileKind::of(Path::new("k.cu"), b"struct S;"), Some(FileKind::Cuda));
    }
}
