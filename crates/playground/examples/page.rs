//! Writes the page of the playground: `page GLUE.js WASM.base64 PAGE.html`.
//!
//! The glue is what wasm-bindgen makes for a script without modules; the WebAssembly is packed by gzip and written in base64.

use std::error::Error;
use std::fs;

use answer::page::{self, SCRIPT};

/// The scripts and the WebAssembly of the page run, a worker made of its text does, and nothing is loaded.
const POLICY: &str = "; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; base-uri 'none'; form-action 'none'";
const PLAYGROUND: &str = include_str!("../src/playground.js");
const WORKER: &str = include_str!("../src/worker.js");

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [glue, wasm, page] = paths.as_slice() else {
        return Err("page GLUE.js WASM.base64 PAGE.html".into());
    };
    let (glue, wasm) = (fs::read_to_string(glue)?, fs::read_to_string(wasm)?);
    if glue.contains("</") || wasm.contains('<') {
        return Err("an element of the page would end in the glue".into());
    }
    let scripts = format!(
        "<script type=\"text/plain\" id=\"worker\">\n{glue}\n{WORKER}</script>\n\
         <script type=\"text/plain\" id=\"wasm\">{wasm}</script>\n\
         <script>\n{PLAYGROUND}</script>\n<script>\n{SCRIPT}</script>\n"
    );
    fs::write(page, page::page(POLICY, &scripts, None))?;
    Ok(())
}
