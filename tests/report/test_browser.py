"""Pages in a real browser: formulas are laid out, nothing leaves the file, names stay text. Needs Chromium."""

import shutil

import numpy as np
import pytest
from html_checks import HOSTILE

import convexcls as cc

playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 20_000  # milliseconds
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on the path: pages are not looked at in a browser"
)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=60_000)
        yield found
        found.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A report with pictures, one with hostile names, one without an answer."""
    place = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    labels = np.array(HOSTILE[:2], dtype=object)[(X[:, 0] + rng.normal(size=30) > 0).astype(int)]
    pd = pytest.importorskip("pandas")
    made = {
        "twenty": (cc.load("twenty_points").solve(), ["clarabel"]),
        "hostile": (cc.SoftMarginSVM(pd.DataFrame(X, columns=list(HOSTILE[:2])), labels).solve(), False),
        "infeasible": (cc.load("xor_hard_margin").solve(), False),
    }
    out = {}
    for name, (solution, solvers) in made.items():
        out[name] = place / f"{name}.html"
        title = HOSTILE[0] if name == "hostile" else None
        solution.report(out[name], compare=solvers, title=title, pictures=name != "infeasible")
    return out


class Visit:
    """A page that was opened, with everything that it said and asked for."""

    def __init__(self, browser, path, **settings):
        self.context = browser.new_context(**settings)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.errors, self.requests = [], []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.errors.append("a dialog"), dialog.dismiss()))
        self.url = path.as_uri()
        self.context.route("**/*", self._judge)
        self.page.goto(self.url)

    def _judge(self, route):
        if route.request.url == self.url:
            route.continue_()
        else:
            self.requests.append(route.request.url[:80])
            route.abort()

    def boxes(self, selector):
        script = "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.width, b.height, b.x, b.y] })"
        return self.page.eval_on_selector_all(selector, script)


@pytest.fixture
def visit(browser):
    opened = []

    def open_page(path, **settings):
        opened.append(Visit(browser, path, **settings))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()


@pytest.mark.parametrize("name", ["twenty", "hostile", "infeasible"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_asked_for_and_nothing_complained_of(visit, reports, name, scheme):
    seen = visit(reports[name], color_scheme=scheme)
    seen.page.wait_for_load_state("networkidle")
    assert seen.errors == []
    assert [url for url in seen.requests if not url.startswith("data:")] == []


def test_formulas_are_laid_out_in_our_font(visit, reports):
    seen = visit(reports["twenty"])
    for width, height, *_ in seen.boxes("main math"):
        assert width > 4
        assert height > 6
    fraction = seen.boxes("math mfrac")[0]
    above, below = seen.boxes("math mfrac > mn")[:2]
    assert fraction[1] > 1.2 * above[1]  # two numbers stand on each other
    assert below[3] > above[3]
    assert abs(below[2] - above[2]) < above[0]
    base, index = seen.boxes("math msub > *")[:2]
    assert index[1] < base[1] or index[3] + index[1] > base[3] + base[1]  # lower, and smaller
    assert index[2] >= base[2] + 0.5 * base[0]
    assert seen.page.evaluate("document.fonts.check('16px \"Convexcls Math\"')")
    used = seen.page.eval_on_selector("math", "e => getComputedStyle(e).fontFamily")
    assert used.startswith('"Convexcls Math"')
    loaded = seen.page.evaluate("[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)")
    assert any("Convexcls Math" in family for family in loaded)
    assert "\\" not in seen.page.inner_text("main")
    assert "$" not in seen.page.inner_text("main")


@pytest.mark.parametrize("width", [1200, 390])
def test_tables_and_pictures_have_size_and_the_page_does_not_scroll_sideways(visit, reports, width):
    seen = visit(reports["twenty"], viewport={"width": width, "height": 900})
    for selector in ("table", ".gallery svg"):
        boxes = seen.boxes(selector)
        assert boxes
        assert all(w > 100 and h > 40 for w, h, *_ in boxes), selector
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_names_stay_text(visit, reports):
    seen = visit(reports["hostile"])
    assert seen.page.title() == HOSTILE[0]
    assert seen.page.inner_text("h1") == HOSTILE[0]
    assert seen.page.locator("script").count() == 1
    assert seen.page.locator("img, main script").count() == 0
    for name in HOSTILE[:2]:
        assert name in seen.page.inner_text("main")
    assert seen.errors == []


def test_a_script_that_is_not_ours_does_not_run(visit, reports, tmp_path):
    """Even if a name got through as markup, the policy of the page would stop it."""
    html = reports["twenty"].read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(html.replace("<main>", '<main><script>document.title = "run"</script>'), encoding="utf-8")
    seen = visit(broken)
    assert seen.page.title() == "Hard-margin SVM"
    assert any("Content Security Policy" in text for text in seen.errors)


def test_a_click_sorts_a_table(visit, reports):
    page = visit(reports["twenty"]).page
    table = page.locator("#samples ~ .scroll table")
    score = table.locator("thead th").nth(2)

    def column():
        return [float(text) for text in table.locator("tbody tr td:nth-child(3)").all_inner_texts()]

    before = column()
    score.locator("[role=button]").click()
    assert column() == sorted(before) != before
    assert score.get_attribute("aria-sort") == "ascending"
    score.locator("[role=button]").press("Enter")
    assert column() == sorted(before, reverse=True)
    assert score.get_attribute("aria-sort") == "descending"


def test_without_script_everything_is_there(visit, reports):
    seen = visit(reports["twenty"], java_script_enabled=False)
    assert seen.page.locator("[role=button]").count() == 0
    assert seen.page.locator("#samples ~ .scroll table tbody tr").count() == 20
    assert seen.page.locator("math").count() > 10
    assert seen.errors == []


def test_on_paper_no_table_is_cut_and_heads_are_repeated(visit, reports):
    page = visit(reports["hostile"], viewport={"width": 700, "height": 990}).page  # A4 without its margins
    page.emulate_media(media="print")
    paper = page.evaluate("document.body.clientWidth")
    assert max(page.eval_on_selector_all("table", "all => all.map(e => e.scrollWidth)")) <= paper
    assert page.eval_on_selector("thead", "e => getComputedStyle(e).display") == "table-header-group"
    assert page.eval_on_selector(".scroll", "e => getComputedStyle(e).overflowX") == "visible"
    assert page.locator("thead button").count() == 0  # Chromium repeats no head with a button in it
    assert len(page.pdf(format="A4")) > 20_000


def test_the_frame_of_a_notebook_shows_the_report(visit, tmp_path):
    made = cc.load("two_points").solve().report(compare=False, pictures=False)
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!DOCTYPE html><body>{made._repr_html_()}</body>", encoding="utf-8")
    seen = visit(cell)
    frame = seen.page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "Hard-margin SVM"
    assert frame.locator("math").first.bounding_box()["height"] > 6
    assert seen.errors == []
