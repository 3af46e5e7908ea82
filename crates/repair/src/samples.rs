//! Tests that unit tests change.

use litmus::revise::SourceTest;

pub(crate) const MP: &str = "PTX MP\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n \
    st.weak.u32 [x], 1 | ld.relaxed.gpu.u32 r0, [f] ;\n \
    st.relaxed.gpu.u32 [f], 1 | ld.weak.u32 r1, [x] ;\nexists (1:r0=1 /\\ 1:r1=0)\n";

pub(crate) const TOGETHER: &str = "PTX MP\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n \
    st.weak.u32 [x], 1 | ld.weak.u32 r0, [f] ;\n \
    st.weak.u32 [f], 1 | ld.weak.u32 r1, [x] ;\nexists (1:r0=1 /\\ 1:r1=0)\n";

pub(crate) fn source(text: &str) -> SourceTest {
    SourceTest::read("test", text.as_bytes()).expect("it is a test")
}
