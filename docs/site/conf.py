"""Options of Sphinx for the site. build.sh makes its pages."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import formulas  # noqa: E402

version_header = Path(__file__).resolve().parents[2] / "framework/mezzo/core/version.hpp"
release = ".".join(re.findall(r"^#define MEZZO_VERSION_\w+ (\d+)$", version_header.read_text(encoding="utf-8"), re.M))
project = f"mezzo {release}"
copyright = ""  # noqa: A001
extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 5  # as a code host makes them
source_suffix = {".md": "markdown"}
highlight_language = "none"
language = "en"
# Python blocks may have "..." or a line of output; GitHub's colours pass for them, too.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = project
html_static_path = ["static"]
html_favicon = "static/icon.svg"  # browsers ask for one at each site
html_css_files = ["site.css"]
html_js_files = ["site.js"]
templates_path = ["templates"]
html_use_index = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "navigation_with_keys": False,
    "light_css_variables": {"color-brand-primary": "#1f4e79", "color-brand-content": "#1a5fb4",
                            "font-stack": "system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"},
    "dark_css_variables": {"color-brand-primary": "#8ab8ec", "color-brand-content": "#7fb2f0"},
}


def setup(app):
    app.add_html_math_renderer("mathml", (formulas.visit_inline, None), (formulas.visit_block, None))
    app.config.html_math_renderer = "mathml"
