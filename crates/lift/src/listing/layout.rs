//! Where the shared variables of a kernel are. A listing has addresses only.
//!
//! `ptxas` lays out what the kernel and the functions that it calls name: see [`crate::function::Place`] for the
//! order. Each variable is at the next multiple of its alignment, and dynamic shared memory is after all others.

use super::section;
use crate::function::FunctionVariable;

/// The assumption about the order.
pub(super) const ASSUMED: &str = "shared variables are laid out as `ptxas` does it";

/// The least alignment of dynamic shared memory.
const DYNAMIC: u64 = 16;

/// The most bytes of shared memory that a kernel may have.
const MOST: u64 = 1 << 20;

/// The address of each variable if the first one is at `begin`. `size` is that of the kernel's shared memory
/// from address 0 on, if it is known.
pub(super) fn places(
    variables: &[FunctionVariable],
    begin: u64,
    size: Option<u64>,
) -> Result<Vec<(u64, &str)>, String> {
    let mut all: Vec<&FunctionVariable> = variables.iter().collect();
    all.sort_by_key(|variable| (variable.grows, variable.place));
    let (mut places, mut end, mut dynamic) = (Vec::new(), begin, None);
    for variable in all {
        let mut alignment = u64::from(variable.alignment.max(1));
        if variable.grows {
            if let Some(other) = dynamic.replace(&variable.name) {
                let name = &variable.name;
                return Err(format!("`{other}` and `{name}` are the same dynamic shared memory"));
            }
            alignment = alignment.max(DYNAMIC);
        }
        end = end.next_multiple_of(alignment);
        places.push((end, variable.name.as_str()));
        end += u64::from(variable.bytes);
        if end > MOST {
            return Err("its shared variables are larger than shared memory".to_owned());
        }
    }
    // Of one variable nothing has to be checked. Where the module declares dynamic shared memory that the kernel
    // does not name, its alignment is added.
    let known = size.is_none_or(|size| {
        let mut alignments = (4..=10).map(|bits| 1_u64 << bits);
        size == end || alignments.any(|alignment| size == end.next_multiple_of(alignment))
    });
    if variables.len() > 1 && !known {
        let size = size.unwrap_or(0) - begin.min(size.unwrap_or(0));
        let computed = end - begin;
        return Err(format!(
            "shared memory of several variables, which the compiler lays out: they are expected to take {computed} \
             bytes, and the listing has {size}"
        ));
    }
    Ok(places)
}

/// The size of the shared memory of a function, from address 0 on: that of its section.
pub(super) fn bytes(text: &str, function: &str) -> Option<u64> {
    let name = format!(".nv.shared.{function}");
    let lines = text.lines().skip_while(|line| section(line) != Some(&name)).skip(1);
    let mut size = None;
    for line in lines.take_while(|line| section(line).is_none()) {
        if let Some(count) = line.trim().strip_prefix(".zero") {
            size = Some(size.unwrap_or(0) + count.trim().parse::<u64>().ok()?);
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::{bytes, places};
    use crate::function::{FunctionVariable, Place};

    fn variable(
        name: &str,
        alignment: u32,
        bytes: u32,
        place: (bool, bool, u32),
    ) -> FunctionVariable {
        let (hidden, of_function, at) = place;
        FunctionVariable {
            name: name.to_owned(),
            bytes,
            grows: bytes == 0,
            alignment,
            place: Place { hidden, of_function, at },
            ..FunctionVariable::default()
        }
    }

    #[test]
    fn variables_are_where_ptxas_puts_them() {
        let all = [
            variable("dynamic", 4, 0, (false, false, 0)),
            variable("of_callee", 1, 1, (true, true, 1)),
            variable("second", 16, 32, (true, false, 3)),
            variable("first", 4, 12, (true, false, 2)),
            variable("of_kernel", 8, 8, (false, true, 9)),
            variable("linked", 2, 2, (false, false, 8)),
        ];
        let found = places(&all, 1024, Some(1024 + 80)).expect("it has the size that is expected");
        let expected = [
            (0, "linked"),
            (8, "of_kernel"),
            (16, "first"),
            (32, "second"),
            (64, "of_callee"),
            (80, "dynamic"),
        ];
        assert_eq!(found, expected.map(|(at, name)| (1024 + at, name)));
        // Dynamic memory that another kernel of the module uses.
        assert!(places(&all[1..], 0, Some(65)).is_ok() && places(&all[1..], 0, Some(80)).is_ok());
        let why = places(&all, 0, Some(72)).expect_err("it has another size");
        assert!(why.ends_with("expected to take 80 bytes, and the listing has 72"), "{why}");
        let two = [all[0].clone(), variable("other", 4, 0, (true, false, 4))];
        assert!(places(&two, 0, None).is_err());
    }

    #[test]
    fn the_section_has_the_size() {
        let text = "\t.section\t.nv.shared.f2,\"aw\"\n.zero 8\n\t.section\t.nv.shared.f,\"aw\",@nobits\n\
            \t.sectionflags\t@\"\"\n\t.align\t16\n.nv.shared.f:\n\t.zero\t\t1104\n\t.section\t.text.f\n\t.zero 4\n";
        assert_eq!(bytes(text, "f"), Some(1104));
        assert_eq!(bytes(text, "g"), None);
    }
}
