"""A real browser without a screen, as tests look through it."""

import contextlib
import os

from axe_core_python.selenium import Axe
from hiatus_cluster import layout, toolchain
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support import wait_for

#: Pictures for the documentation are made there anew where this variable says so; otherwise they are beside the tests' clusters.
_DOCS = "HIATUS_NEW_PICTURES"


class Browser:
    """Chromium, with what a user does and sees."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, url):
        """Opens the page."""
        self.driver.get(url)

    def all(self, selector):
        """The elements that a CSS selector finds."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        """What an element shows; nothing while there is none, or it was just replaced."""
        return self.driver.execute_script("const found = document.querySelector(arguments[0]); return found ? found.innerText : '';", selector)

    def await_text(self, selector, part, timeout_s=30):
        """Waits until an element shows a text in which that occurs, and gives it back."""
        return wait_for(lambda: part in self.text(selector) and self.text(selector), f"{part!r} in {selector}: {self.text(selector)!r}", timeout_s)

    def click(self, selector):
        """Clicks on what is there at that moment."""
        self.driver.execute_script("document.querySelector(arguments[0]).click()", selector)

    def press(self, *keys):
        """Presses keys, wherever the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(getattr(Keys, key))

    def focused(self):
        """What has the focus: its id, or else its text."""
        return self.driver.execute_script("return document.activeElement.id || document.activeElement.innerText")

    def dark(self, dark=True):
        """The user prefers dark colours, or light ones."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def picture(self, name):
        """Saves what is seen."""
        folder = layout.ROOT / "docs" / "page" if os.environ.get(_DOCS) else layout.BUILD / "tests" / "pictures"
        folder.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(folder / f"{name}.png"))

    def barriers(self):
        """What axe-core finds that keeps somebody out (WCAG 2.1, levels A and AA), as text."""
        found = Axe().run(self.driver, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
        return [f"{one['id']}: {one['help']}: {node['html']}" for one in found["violations"] for node in one["nodes"]]

    def errors(self):
        """What the browser complained of since this was last asked, but for the icon that YARN's pages do not have."""
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE" and "/favicon.ico" not in line["message"]]


@contextlib.contextmanager
def browser(ticket=None):
    """Starts one, of a user with that ticket of Kerberos; Debian's chromium is installed if it is missing, and that is allowed."""
    options = webdriver.ChromeOptions()
    options.binary_location = toolchain.program("chromium", "chromium", print)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000", "--lang=en"):
        options.add_argument(argument)
    if ticket is not None:  # it knows no certificates but the system's
        options.add_argument("--auth-server-allowlist=127.0.0.1")
        options.add_argument("--ignore-certificate-errors")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(
        toolchain.program("chromedriver", "chromium-driver", print), env={**os.environ, **(ticket or {})}))
    driver.set_script_timeout(180)  # axe-core looks at everything, on a machine that may have other work
    try:
        yield Browser(driver)
    finally:
        driver.quit()
