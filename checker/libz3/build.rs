//! The choice of the Z3 library.
//!
//! In this order: the folder that `LIBZ3_DIR` names; a system library that is new enough; the one
//! in a wheel from the Python package index, which is pinned by its hash; an older system library.
//! A version is never assumed: a C program is linked with the library and asks it.
//!
//! On Linux the checker is not linked with the library itself, but with one that loads it when it is
//! needed (`lazy.rs`); what came in a wheel is put inside the command, packed.

#[cfg(unix)]
mod lazy;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fmt, fs};

/// The least version that crate `z3` supports; `.cargo/config.toml` names it too.
const OLDEST: Version = Version(4, 13, 3);

/// One hash for each platform: Linux on x86-64 and on Arm, macOS on Arm and on x86-64.
const REQUIREMENTS: &str = "\
z3-solver==5.4.0.0 \
--hash=sha256:0549ffad554178a59480ba41b5279cfbb27053ed5a2da269ae1a48214d5db34b \
--hash=sha256:fffb36861d4da1f9584d0fd4a80dbf247fdfbebb04b5c31a90b460b14c86cab0 \
--hash=sha256:a1b36f0dd038c030d88711474c93b95e863c30a22e9def53ad5965c6092c92a7 \
--hash=sha256:407522390c4d11696b10d43c76d22d4e60b7f11d75d9defe6f064e073edd904f
";

/// Copies the library out of a wheel, and on Linux packs it for the command: the arguments are the wheel and a folder.
const UNPACK: &str = "\
import os, sys, zipfile, zlib
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        folder, file = os.path.split(name)
        if folder == 'z3/lib' and file.startswith('libz3.') and not file.endswith('.dll'):
            library = wheel.read(name)
            with open(os.path.join(sys.argv[2], file), 'wb') as out:
                out.write(library)
            if sys.platform == 'linux':
                packer = zlib.compressobj(9, zlib.DEFLATED, -15)
                with open(os.path.join(sys.argv[2], file + '.deflate'), 'wb') as out:
                    out.write(packer.compress(library) + packer.flush())
";

/// Prints the version, and the file of the library.
const PROBE: &str = "\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
void Z3_get_version(unsigned *, unsigned *, unsigned *, unsigned *);
int main(void) {
    unsigned major, minor, patch, revision;
    Z3_get_version(&major, &minor, &patch, &revision);
    printf(\"%u.%u.%u\\n\", major, minor, patch);
    Dl_info found;
    void *version = dlsym(RTLD_DEFAULT, \"Z3_get_version\");
    if (version != NULL && dladdr(version, &found) != 0) printf(\"%s\", found.dli_fname);
    return 0;
}
";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LIBZ3_DIR");
    println!("cargo::rerun-if-env-changed=Z3_NO_PKG_CONFIG");
    if env::var_os("CARGO_FEATURE_LINK").is_none() {
        return;
    }
    let build = Build::new();
    match choose(&build).and_then(|library| library.announce(&build)) {
        Ok(()) => {}
        Err(why) => why.lines().for_each(|line| println!("cargo::error={line}")),
    }
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Version(u32, u32, u32);

impl Version {
    fn parse(text: &str) -> Option<Version> {
        let mut numbers = text.trim().split('.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Version(next()?, next()?, next()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

struct Library {
    /// Where the linker would not look by itself.
    folder: Option<PathBuf>,
    /// The library itself; not known when it is of the system of another machine.
    file: Option<PathBuf>,
    /// Not known when it was built for another machine.
    version: Option<Version>,
    /// The library packed, to be put inside the command; for one that goes with the folder of the build.
    packed: Option<PathBuf>,
}

impl Library {
    fn is_new_enough(&self) -> bool {
        self.version.is_none_or(|version| version >= OLDEST)
    }

    fn announce(&self, build: &Build) -> Result<(), String> {
        if let Some(version) = self.version {
            println!("cargo::metadata=version={version}");
            if version < OLDEST {
                println!(
                    "cargo::warning=the only Z3 found is {version}, and {OLDEST} or newer is needed: \
                     the engine `solve` will have none to ask"
                );
            }
        }
        if self.load_when_needed(build)? {
            return Ok(());
        }
        if env::var_os("Z3_NO_PKG_CONFIG").is_none() {
            println!(
                "cargo::warning=`.cargo/config.toml` was not read, so another Z3 may be linked: \
                 start cargo inside the repository"
            );
        }
        if let Some(folder) = &self.folder {
            println!("cargo::rustc-link-search=native={}", folder.display());
            println!("cargo::metadata=dir={}", folder.display());
        }
        Ok(())
    }

    /// Links with what loads the library when it is needed, where there is such a thing.
    #[cfg(unix)]
    fn load_when_needed(&self, build: &Build) -> Result<bool, String> {
        let (Some(file), Some(version), Some(assembly)) =
            (&self.file, self.version, lazy::assembly(&build.target))
        else {
            return Ok(false);
        };
        let stand_in = lazy::build(&build.out, assembly, file, version, self.packed.as_deref())?;
        println!("cargo::rustc-link-search=native={}", stand_in.folder.display());
        if let Some(object) = stand_in.embedded {
            println!("cargo::metadata=embedded={}", object.display());
        }
        Ok(true)
    }

    #[cfg(not(unix))]
    fn load_when_needed(&self, _: &Build) -> Result<bool, String> {
        Ok(false)
    }
}

/// What cargo says of this build.
struct Build {
    out: PathBuf,
    host: String,
    target: String,
}

impl Build {
    fn new() -> Build {
        let variable = |name| env::var(name).expect("cargo sets its variables");
        Build {
            out: PathBuf::from(variable("OUT_DIR")),
            host: variable("HOST"),
            target: variable("TARGET"),
        }
    }

    fn is_cross(&self) -> bool {
        self.host != self.target
    }

    /// Cargo's target folder, which all profiles share; it bears cargo's mark.
    fn shared(&self) -> &Path {
        let marked = |folder: &&Path| folder.join("CACHEDIR.TAG").is_file();
        self.out.ancestors().find(marked).unwrap_or(&self.out)
    }
}

fn choose(build: &Build) -> Result<Library, String> {
    if let Some(folder) = env::var_os("LIBZ3_DIR").filter(|folder| !folder.is_empty()) {
        return named(build, Path::new(&folder));
    }
    let system = system(build);
    if let Ok(library) = &system
        && library.is_new_enough()
    {
        return system;
    }
    let no_wheel = match wheel(build) {
        Ok(library) => return Ok(library),
        Err(why) => why,
    };
    match system {
        // What was fetched is not what is pinned. That is no case for another library.
        _ if no_wheel.contains("HASHES") => Err(no_wheel),
        Ok(library) => {
            println!("cargo::warning=Z3 could not be fetched: {no_wheel}");
            println!("cargo::warning=set LIBZ3_DIR, or install python3-pip and touch {}", file!());
            Ok(library)
        }
        Err(no_system) => Err(format!(
            "no Z3 to link the checker with\n\
             a system library: {no_system}\n\
             the wheel from the Python package index: {no_wheel}\n\
             help: install python3 and python3-pip, and build once with a network\n\
             help: or set LIBZ3_DIR to the folder of a shared libz3, {OLDEST} or newer\n\
             help: or do without Z3: cargo build --no-default-features"
        )),
    }
}

fn named(build: &Build, folder: &Path) -> Result<Library, String> {
    let wrong = |why| format!("LIBZ3_DIR is `{}`: {why}", folder.display());
    // Cargo runs a build script in the folder of its package, so a relative path would be misread.
    if !folder.is_absolute() {
        return Err(wrong("it is not an absolute path".to_owned()));
    }
    let shared = ["libz3.so", "libz3.dylib"].map(|name| folder.join(name));
    let Some(library) = shared.iter().find(|path| path.is_file()) else {
        return Err(wrong("it holds neither libz3.so nor libz3.dylib".to_owned()));
    };
    println!("cargo::rerun-if-changed={}", library.display());
    let version =
        if build.is_cross() { None } else { Some(ask(build, Some(folder)).map_err(wrong)?.0) };
    let (folder, file) = (Some(folder.to_owned()), Some(library.clone()));
    Ok(Library { folder, file, version, packed: None })
}

/// The first system library that is new enough, or else the first that there is.
fn system(build: &Build) -> Result<Library, String> {
    if build.is_cross() {
        return Err(format!("not looked for, since the build is for {}", build.target));
    }
    let find = |folder: Option<PathBuf>| -> Result<Library, String> {
        let (version, file) = ask(build, folder.as_deref())?;
        Ok(Library { folder, file, version: Some(version), packed: None })
    };
    let plain = find(None);
    if plain.as_ref().is_ok_and(Library::is_new_enough) {
        return plain;
    }
    let folder = output(Command::new("pkg-config").args(["--variable=libdir", "z3"]));
    let other = folder.ok().filter(|folder| !folder.is_empty()).map(PathBuf::from);
    match other.map(|folder| find(Some(folder))) {
        Some(Ok(library)) if plain.is_err() || library.is_new_enough() => Ok(library),
        _ => plain,
    }
}

/// The library in the wheel, which stays in the target folder so that each profile need not fetch it.
fn wheel(build: &Build) -> Result<Library, String> {
    if build.is_cross() {
        return Err(format!("not fetched, since the build is for {}", build.target));
    }
    let requirements = build.out.join("requirements.txt");
    let fetched = build.out.join("wheel");
    let kept = build.shared().join("causeway-libz3");
    let folder = build.out.join("lib");
    fs::write(&requirements, REQUIREMENTS).map_err(|why| why.to_string())?;
    // Removed first: a program that runs keeps the library it started with.
    let _ = fs::remove_dir_all(&fetched);
    let _ = fs::remove_dir_all(&folder);
    for folder in [&fetched, &kept, &folder] {
        fs::create_dir_all(folder).map_err(|why| why.to_string())?;
    }

    // pip looks at the hash in either case.
    fetch(&requirements, &fetched, Some(&kept))
        .or_else(|_| fetch(&requirements, &fetched, None))?;
    let wheel = only_file(&fetched)?;
    output(Command::new("python3").args(["-c", UNPACK]).args([&wheel, &folder]))?;
    // Moved, not copied: another build never sees half a wheel. Without it the next one fetches again.
    if let Some(name) = wheel.file_name() {
        let _ = fs::rename(&wheel, kept.join(name));
    }
    let (version, _) = ask(build, Some(&folder))?;
    let name = format!("libz3{}", env::consts::DLL_SUFFIX);
    let packed = Some(folder.join(format!("{name}.deflate"))).filter(|packed| packed.is_file());
    let file = Some(folder.join(name));
    Ok(Library { folder: Some(folder), file, version: Some(version), packed })
}

fn fetch(requirements: &Path, into: &Path, kept: Option<&Path>) -> Result<(), String> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]);
    pip.args(["--require-hashes", "--no-deps", "--only-binary", ":all:", "--retries", "2"]);
    pip.arg("--requirement").arg(requirements).arg("--dest").arg(into);
    if let Some(kept) = kept {
        pip.args(["--no-index", "--find-links"]).arg(kept);
    }
    pip.env("PIP_REQUIRE_VIRTUALENV", "0");
    output(&mut pip).map(drop)
}

fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let mut entries = fs::read_dir(folder).map_err(|why| why.to_string())?;
    match (entries.next(), entries.next()) {
        (Some(Ok(entry)), None) => Ok(entry.path()),
        _ => Err(format!("`{}` does not hold one wheel", folder.display())),
    }
}

/// Asks the library itself for its version, which also shows that the linker and the loader find it; and
/// the loader for its file.
fn ask(build: &Build, folder: Option<&Path>) -> Result<(Version, Option<PathBuf>), String> {
    let source = build.out.join("probe.c");
    let program = build.out.join("probe");
    fs::write(&source, PROBE).map_err(|why| why.to_string())?;
    let mut cc = Command::new("cc");
    cc.arg(&source).arg("-o").arg(&program);
    if let Some(folder) = folder {
        // By its path: a linker that cannot use it would go on to the next `-lz3`.
        cc.arg(folder.join(format!("libz3{}", env::consts::DLL_SUFFIX)));
        cc.arg(format!("-Wl,-rpath,{}", folder.display()));
    } else {
        cc.arg("-lz3");
    }
    output(&mut cc)?;
    // The checker is to start without these.
    let mut probe = Command::new(&program);
    let answer = output(probe.env_remove("LD_LIBRARY_PATH").env_remove("DYLD_LIBRARY_PATH"))?;
    let mut lines = answer.lines();
    let version = lines.next().unwrap_or_default();
    let file = lines.next().map(PathBuf::from).filter(|file| file.is_absolute());
    let parsed = Version::parse(version);
    Ok((parsed.ok_or_else(|| format!("`{version}` is not a version of Z3"))?, file))
}

fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|why| format!("`{program}` does not start: {why}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        // The first line names the cause, and cargo reads one line at a time.
        let line = said.lines().map(str::trim).find(|line| !line.is_empty());
        Err(format!("`{program}` failed: {}", line.unwrap_or("it does not say why")))
    }
}
