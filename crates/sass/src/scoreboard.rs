//! Scoreboards: what an instruction waits for, and what waits for its result.

use machine::form::Family;

use super::syntax::{Annotation, AnnotationKind};

/// What an instruction does with the six scoreboards.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scoreboards {
    /// It waits for these, a bit each.
    pub required: u8,
    /// The one that is cleared when its result is there.
    pub written: Option<u8>,
}

impl Scoreboards {
    /// By the words of an instruction, the lower first: bits 110 to 112 and 116 to 121 from `sm_70` on. `None` of other words.
    pub fn of_words(words: &[u64], sm: u16) -> Option<Scoreboards> {
        let (&[_, high], true) = (words, Family::of_or_before(sm).has_scoreboards()) else {
            return None;
        };
        let written = u8::try_from(high >> 46 & 7).expect("three bits");
        Some(Scoreboards {
            required: u8::try_from(high >> 52 & 0x3f).expect("six bits"),
            written: (written < 6).then_some(written),
        })
    }

    /// By annotations; `None` if there are none.
    pub fn of_annotations(annotations: &[Annotation<'_>]) -> Option<Scoreboards> {
        let mut all = (!annotations.is_empty()).then(Scoreboards::default)?;
        for annotation in annotations {
            match annotation.kind {
                AnnotationKind::Require(mask) => all.required |= mask,
                AnnotationKind::Write(one) => all.written = Some(one),
                AnnotationKind::Read(_) | AnnotationKind::Schedule => {}
            }
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::Scoreboards;

    /// Words of ptxas 13.5: `LD.E R7, …` that waits for 1 and sets 2, and a `CCTL.IVALL` that waits for all.
    #[test]
    fn words_show_what_waits() {
        let load = Scoreboards { required: 0b10, written: Some(2) };
        let fence = Scoreboards { required: 0x3f, written: None };
        let of = |high| Scoreboards::of_words(&[0, high], 90);
        assert_eq!(of(0x002e_a800_0c10_1900), Some(load));
        assert_eq!(of(0x03ff_e800_0200_0000), Some(fence));
        assert_eq!(Scoreboards::of_words(&[0, 0x002e_a800_0c10_1900], 60), None);
        assert_eq!(Scoreboards::of_words(&[0], 90), None);
    }
}
