#!/usr/bin/env python3
"""Uses the page of `causeway serve`, and that of the playground, in Chromium: types, clicks, follows links, by mouse and keyboard.

Usage: tests/browser/pages.py [--causeway PATH] [--playground PAGE] [--screenshots FOLDER]

Without Chromium it says so and exits with 0. Exits with 1 where a page is not as expected.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from chromium import Browser, program  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOLDS = (ROOT / "tests/cli/holds.litmus").read_text()
FAILS = (ROOT / "tests/cli/fails.litmus").read_text()
WRONG = HOLDS.replace("st.", "stt.", 1)


def exploding():
    """A test that takes longer than the limit of an answer."""
    threads = range(12)
    rows = [" | ".join(f"P{i}@cta {i},gpu 0" for i in threads), " | ".join(f"st.relaxed.gpu.u32 [x], {i}" for i in threads)]
    rows += [" | ".join(f"ld.relaxed.gpu.u32 r{register}, [x]" for _ in threads) for register in range(4)]
    condition = " \\/ ".join(f"{i}:r3=77" for i in threads)
    return "PTX explodes\n{ x=0; }\n" + "".join(row + " ;\n" for row in rows) + f"exists ({condition})\n"


class Page:
    """The page that asks, at an address."""

    def __init__(self, browser, address, name, screenshots):
        self.browser, self.address, self.name, self.screenshots = browser, address, name, screenshots

    def text(self, selector):
        return self.browser.run(f"document.querySelector({selector!r})?.innerText ?? ''")

    def focused(self):
        return self.browser.run("document.activeElement.id || document.activeElement.tagName")

    def answered(self, words, selector="#answer"):
        """Waits for an answer that has these words."""
        self.browser.wait(f"!document.querySelector('#answer').hasAttribute('aria-busy') "
                          f"&& (document.querySelector({selector!r})?.textContent ?? '').includes({words!r})")

    def judged(self, words=""):
        """Waits for an answer about a test; that it is or is not `as the test expects`, or begins with these words."""
        said = "[...document.querySelectorAll('#answer .verdict, #answer .expectation')].map(of => of.textContent)"
        self.browser.wait("!document.querySelector('#answer').hasAttribute('aria-busy') "
                          f"&& {said}.some(text => text.startsWith({words!r}))")

    def write(self, test):
        """Types a test in the place of another, by keyboard."""
        self.browser.run("document.getElementById('source').focus()")
        self.browser.key("a", control=True)
        self.browser.type(test)

    def open(self, fragment=""):
        self.browser.open(self.address + fragment)

    def picture(self, name):
        if self.screenshots:
            self.browser.screenshot(self.screenshots / f"{self.name}-{name}.png")


def expect(condition, words):
    if not condition:
        raise AssertionError(words)


def a_test_is_shown_at_the_start(page):
    page.open()
    page.judged("as the test expects")
    expect(page.browser.run("document.querySelectorAll('#answer svg').length") > 0, "no picture")
    expect("Outcomes" in page.text("#answer"), "no outcomes")


def a_typed_test_is_checked(page):
    page.open()
    page.judged()
    page.write(FAILS)
    page.browser.click("#run")
    page.judged("not as the test expects")
    page.write(HOLDS)
    page.browser.key("Enter", control=True)
    page.judged("as the test expects")
    expect(page.text("#status").startswith(("Forbidden", "Allowed")), "no status")


def an_error_leads_to_its_place(page):
    page.open()
    page.judged()
    page.write(WRONG)
    page.browser.key("Enter", control=True)
    page.answered("could not be read")
    expect(page.text("#errors button").startswith("Line "), "no error")
    page.browser.click("#errors button")
    selected = page.browser.run("source.value.slice(source.selectionStart).split(/\\s/)[0]")
    expect(page.focused() == "source" and selected.startswith("stt."), f"the cursor is at {selected!r}")


def an_example_is_chosen_and_undone(page):
    page.open()
    page.judged()
    page.write(HOLDS + "(* mine *)\n")
    page.browser.run("""example.focus(); example.selectedIndex = 3; example.dispatchEvent(new Event("change"))""")
    name = page.browser.run("example.selectedOptions[0].textContent")
    page.answered(name, "#answer h2")
    page.browser.run("document.getElementById('source').focus(); document.execCommand('undo')")
    expect("(* mine *)" in page.browser.run("source.value"), "what was typed is lost")


def a_link_carries_the_test(page):
    page.open()
    page.judged()
    special = FAILS.replace('PTX ', 'PTX é-', 1)
    page.write(special)
    page.browser.key("Enter", control=True)
    page.judged("not as the test expects")
    page.browser.click("#copy")
    page.browser.wait("location.hash.startsWith('#z=') && /link/.test(status_.textContent)"
                      .replace("status_", "document.getElementById('status')"))
    link = page.browser.run("location.hash")
    expect(len(link) < len(special), f"a link of {len(link)} characters")
    page.open(link)
    page.judged("not as the test expects")
    expect(page.browser.run("source.value") == special, "another test")
    # A link within the page, and links that hold no test.
    page.open()
    page.judged("as the test expects")
    page.browser.run(f"location.hash = {link!r}")
    page.judged("not as the test expects")
    bomb = page.browser.run("""(async () => { const zeros = new Blob([new Uint8Array(1 << 26)]).stream();
        const packed = await new Response(zeros.pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer();
        let text = ""; for (const byte of new Uint8Array(packed)) text += String.fromCharCode(byte);
        return "#z=" + btoa(text).replace(/[+]/g, "-").replace(/[/]/g, "_").replace(/=/g, ""); })()""")
    for wrong in ["#z=AAAA", "#z=" + link[3:40], "#t=_w", bomb]:
        page.open(wrong)
        page.browser.wait("document.getElementById('status').textContent.includes('link does not hold')")
        expect(page.browser.run("source.value") == "", "a test from nowhere")


def a_step_shows_its_line(page):
    page.open()
    page.judged("as the test expects")
    before = page.browser.run("location.hash")
    page.browser.click(".steps a")
    expect(page.browser.run("document.querySelectorAll('#answer svg .target').length") == 1, "no line is marked")
    page.browser.wait("location.hash.startsWith('#z=')")
    expect(before in ("", page.browser.run("location.hash")), "the address has lost the test")


def a_long_search_ends(page):
    page.open()
    page.judged()
    page.write(exploding())
    page.browser.key("Enter", control=True)
    page.browser.wait("!document.getElementById('stop').hidden")
    page.browser.click("#stop")
    page.browser.wait("document.getElementById('status').textContent === 'Stopped.'")
    # The next one is answered.
    page.write(HOLDS)
    page.browser.key("Enter", control=True)
    page.judged("as the test expects")
    page.write(exploding())
    page.browser.key("Enter", control=True)
    page.judged("Undecided")


def the_keyboard_is_enough(page):
    page.open()
    page.judged()
    page.browser.run("document.activeElement.blur()")
    order = []
    for _ in range(5):
        page.browser.key("Tab")
        order.append(page.focused())
    expect(order[:4] == ["example", "source", "run", "copy"], f"the order of the focus is {order}")
    outline = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
    expect(page.browser.run(outline), "the focus cannot be seen")
    for _ in range(3):
        page.browser.key("Tab", shift=True)
    page.browser.run("answer.innerHTML = ''")
    expect(page.focused() == "source", page.focused())
    page.browser.key("Tab")
    page.browser.key("Enter")
    page.judged("as the test expects")
    labels = page.browser.run("""[...document.querySelectorAll("textarea, select, button, [role=region]")]
        .filter(it => !(it.labels?.length || it.textContent.trim() && it.tagName === "BUTTON" || it.getAttribute("aria-label"))).length""")
    expect(labels == 0, f"{labels} fields have no label")


def nothing_is_wider_than_the_page(page):
    for width in (400, 1280):
        for scheme in ("light", "dark"):
            page.browser.size(width)
            page.browser.colours(scheme)
            page.open()
            page.judged("as the test expects")
            wide = page.browser.run("document.documentElement.scrollWidth - innerWidth")
            expect(wide <= 0, f"{wide} px too wide at {width} px")
            # Text and its ground differ enough to be read: WCAG AA.
            contrast = page.browser.run("""(() => { const light = text => { const c = text.match(/[0-9.]+/g).slice(0, 3)
                .map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
                return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
                let least = 99; for (const id of ["source", "run", "copy", "example", "keys"]) { const style = getComputedStyle(document.getElementById(id));
                const back = style.backgroundColor === "rgba(0, 0, 0, 0)" ? getComputedStyle(document.body).backgroundColor : style.backgroundColor;
                const [a, b] = [light(style.color), light(back)]; least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)); }
                return least; })()""")
            expect(contrast >= 4.5, f"a contrast of {contrast:.1f}")
            page.picture(f"{width}-{scheme}")
    page.browser.size(1280)
    page.browser.colours("light")


def markup_of_a_test_is_text(page):
    page.open()
    page.judged()
    page.write(HOLDS.replace("PTX ", "PTX <img/src=x/onerror=alert(1)>", 1))
    page.browser.key("Enter", control=True)
    page.answered("<img/src=x", "#answer")
    expect(page.browser.run("document.querySelectorAll('#answer img').length") == 0, "an element of the test")


TESTS = [a_test_is_shown_at_the_start, a_typed_test_is_checked, an_error_leads_to_its_place, an_example_is_chosen_and_undone,
         a_link_carries_the_test, a_step_shows_its_line, a_long_search_ends, the_keyboard_is_enough, nothing_is_wider_than_the_page,
         markup_of_a_test_is_text]


def run(browser, address, name, screenshots):
    page = Page(browser, address, name, screenshots)
    wrong = 0
    for test in TESTS:
        browser.errors.clear()
        try:
            test(page)
            expect(not browser.errors, f"errors of the page: {browser.errors}")
            print(f"{name}: {test.__name__}: ok", flush=True)
        except (AssertionError, RuntimeError) as why:
            wrong += 1
            print(f"{name}: {test.__name__}: FAILED: {why}", flush=True)
            browser.size(1280)
    return wrong


def tests_of_the_suite(share):
    """One of so many tests, as text, by its path."""
    files = sorted((ROOT / "litmus/suite").glob("*/*.litmus"))
    return {str(path.relative_to(ROOT)): path.read_text() for path in files[::share]}


def the_playground_answers_as_the_server(browser, server, playground, share=4):
    """Compares the answers to tests of the suite; those that a limit of time ends on one side are left out."""
    every = tests_of_the_suite(share)
    answers = []
    for address, ask in [(server, "fetch('answer', { method: 'POST', body: text }).then(it => it.json())"),
                         (playground, "causewayAnswer(text, new AbortController().signal)")]:
        browser.open(address)
        browser.wait("document.querySelector('#answer svg') !== null")
        answers.append(browser.run(f"""(async () => {{ const out = []; for (const text of {json.dumps(list(every.values()))}) {{
            const answer = await {ask}; if (answer.check) answer.check.seconds = 0; out.push(answer); }} return out; }})()"""))
    compared, wrong = 0, []
    for path, of_server, of_playground in zip(every, *answers):
        if "undecided" in of_server["summary"] + of_playground["summary"]:
            continue
        compared += 1
        if of_server != of_playground:
            wrong.append(path)
    expect(compared > len(every) * 0.9, f"only {compared} of {len(every)} are compared")
    expect(not wrong, f"the answers differ for {wrong}")
    print(f"playground: {compared} answers are those of the server: ok", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--causeway", type=pathlib.Path)
    parser.add_argument("--playground", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    if not program():
        print("SKIPPED: no chromium, chromium-browser or google-chrome in PATH; no page is opened")
        return
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with Browser() as browser:
        browser.size(1280)
        if options.causeway:
            command = [os.path.abspath(options.causeway), "serve", "--listen", "127.0.0.1:0", "--timeout", "2"]
            server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            try:
                address = server.stdout.readline().strip()
                wrong += run(browser, address, "serve", options.screenshots)
                if options.playground:
                    the_playground_answers_as_the_server(browser, address, options.playground.resolve().as_uri())
            finally:
                server.send_signal(signal.SIGINT)
                server.wait(timeout=20)
        if options.playground:
            wrong += run(browser, options.playground.resolve().as_uri(), "playground", options.screenshots)
    if wrong:
        sys.exit(f"error: {wrong} not as expected")


main()
