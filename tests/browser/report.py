"""Opens a report in Chromium as a reader does: filters it by keyboard, on a wide and on a narrow screen, in light and dark.

Usage: report.py REPORT [SCREENSHOTS]

Exits with 1 and says what is wrong, or prints what was checked. With a second folder, writes a picture of each page there.
"""

import os
import pathlib
import sys

import chromium

WIDTHS = [1280, 400]
SCHEMES = ["light", "dark"]

# What stands on the page in its smallest contrast to what is behind it, by WCAG 2: 4.5 is enough for text.
CONTRAST = """(() => {
  const channel = value => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const light = colour => { const [r, g, b] = colour.match(/[0-9.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
  let worst = [100, ""];
  for (const one of Array.from(document.querySelectorAll("h1, h2, p, a, span, li, pre, label, figcaption")).slice(0, 400)) {
    let behind = one;
    while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    if (!behind) continue;
    const [a, b] = [light(getComputedStyle(one).color), light(getComputedStyle(behind).backgroundColor)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, one.tagName + "." + one.className + ": " + one.textContent.slice(0, 40)];
  }
  return worst;
})()"""


class Checks:
    def __init__(self, browser, report, pictures):
        self.browser, self.report, self.pictures = browser, report, pictures
        self.wrong, self.count = [], 0

    def expect(self, what, right):
        self.count += 1
        if not right:
            self.wrong.append(what)

    def address(self, path):
        return (self.report / path).resolve().as_uri()

    def picture(self, name):
        if self.pictures:
            self.browser.screenshot(str(self.pictures / (name + ".png")))

    def shown(self):
        return self.browser.run("Array.from(document.querySelectorAll('#tests > li')).filter(one => !one.hidden).length")

    def focus(self, selector, most=20):
        """Moves the focus by the Tab key alone."""
        for _ in range(most):
            self.browser.key("Tab")
            if self.browser.run(f"document.activeElement.matches({selector!r})"):
                return True
        return False

    def page(self, name, path, scheme, width):
        """One page is as wide as the screen, can be read, and reports no error."""
        self.browser.colours(scheme)
        self.browser.size(width)
        self.browser.open(self.address(path))
        what = f"{name}, {width} pixels, {scheme}"
        wide = self.browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.expect(f"{what}: it is {wide} pixels wider than the screen", wide <= 0)
        ratio, where = self.browser.run(CONTRAST)
        self.expect(f"{what}: contrast {ratio:.1f} of {where}", ratio >= 4.5)
        self.picture(f"{name}-{width}-{scheme}")

    def filters(self):
        browser = self.browser
        browser.size(1280)
        browser.open(self.address("index.html"))
        all_tests = self.shown()
        self.expect("the list is empty", all_tests > 0)
        self.expect("the Tab key does not reach the search", self.focus("#search"))
        word = browser.run("document.querySelector('#tests a').textContent")
        browser.type(word)
        browser.wait(f"document.getElementById('search').value === {word!r}")
        texts = f"Array.from(document.querySelectorAll('#tests > li')).filter(one => one.textContent.toLowerCase().includes({word.lower()!r})).length"
        found = browser.run(texts)
        self.expect(f"{self.shown()} tests are shown of {found} with `{word}`", self.shown() == found)
        said = browser.run("document.getElementById('shown').textContent")
        self.expect(f"the page says `{said}`", said == f"{found} of {all_tests}")
        self.expect("the address does not keep the search", browser.run("location.hash.includes('search=')"))
        browser.type(" there-is-no-such-word")
        browser.wait("document.getElementById('shown').textContent.startsWith('0 of')")
        self.expect("tests are shown that lack a word", self.shown() == 0)
        # The choices of verdicts are one stop of the Tab key; arrows change the choice.
        browser.open(self.address("index.html"))
        self.expect("the Tab key does not reach the verdicts", self.focus("input[type=radio]"))
        browser.key("ArrowDown")
        browser.key("ArrowDown")
        verdict = browser.run("document.querySelector('input[type=radio]:checked').value")
        of = browser.run(f"document.querySelectorAll('#tests > li[data-verdict=' + JSON.stringify({verdict!r}) + ']').length")
        self.expect(f"{self.shown()} tests are shown of {of} that are `{verdict}`", 0 < of == self.shown())
        # A link with both leads to the same tests.
        address = browser.run("location.href")
        browser.open(address)
        self.expect("the link leads to other tests", self.shown() == of)
        self.expect("the Tab key does not reach a test", self.focus("#tests a"))
        browser.key("Enter")
        browser.wait("location.pathname.includes('/tests/')")
        self.expect("the Tab key does not reach the way back", self.focus("a[href='../index.html']", 200))
        browser.key("Enter")
        browser.wait("location.pathname.endsWith('/index.html')")


def main():
    report = pathlib.Path(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    if not chromium.program():
        print("SKIPPED: none of " + ", ".join(chromium.NAMES) + " is in PATH")
        return 0
    with chromium.Browser() as browser:
        checks = Checks(browser, report, pictures)
        tests = sorted(path.name for path in (report / "tests").iterdir())
        for scheme in SCHEMES:
            for width in WIDTHS:
                checks.page("list", "index.html", scheme, width)
                for name in tests[:: max(1, len(tests) // 12)]:
                    checks.page("test-" + name.split(".")[0], "tests/" + name, scheme, width)
        checks.filters()
        for error in browser.errors:
            checks.expect(error, False)
    for what in checks.wrong:
        print("error: " + what)
    print(f"{checks.count} checks of {len(tests)} tests in Chromium, {len(checks.wrong)} failed")
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
