"""Run the README's commands and its Python, in order, in a fresh folder: ``python -m tests.readme [STORE]``.

With a store (one that ``make demo`` filled), what the commands would train again is there already.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def main(store):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        if store is not None:
            (Path(folder) / "separatrix-results").symlink_to(Path(store).resolve())
        commands = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]
        assert commands, "the README has no commands"
        for command in commands:
            print(f"$ {command}", flush=True)
            subprocess.run(command, shell=True, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        for block in blocks("python"):
            print("the README's Python", flush=True)
            subprocess.run([sys.executable, "-c", block], cwd=folder, check=True)
            assert (Path(folder) / "curve.html").stat().st_size > 0


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
