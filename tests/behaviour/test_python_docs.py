# SPDX-License-Identifier: BSD-3-Clause
"""docs/python.md: its code is executed, block after block, as a reader would."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_tutorial_runs_as_it_stands(tmp_path):
    blocks = BLOCK.findall((DOCS / "python.md").read_text())
    assert len(blocks) >= 5
    script = tmp_path / "tutorial.py"
    script.write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    print(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert "did you mean ring?" in done.stdout or "is it ring?" in done.stdout
    assert "session: it was closed; open a new one" in done.stdout
    assert json.loads((tmp_path / "web.json").read_text())["schema"] == "wirerate-run/1"
