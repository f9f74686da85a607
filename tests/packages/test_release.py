# SPDX-License-Identifier: Apache-2.0
"""What scripts/build/build-release and scripts/build/build-deb refuse: a release is of one commit, with every board. Stand-ins make
packages and Verilog.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import history
import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Makes what the script looks for in place of packages.
PACKAGES = r"""#!/bin/bash
set -euo pipefail
[ "$1 $3" = "--version --output" ]
mkdir "$4"
touch "$4/meridian_$2.orig.tar.xz" "$4/meridian-tools_$2-1_all.deb"
"""
VERILOG = r"""#!/bin/bash
set -euo pipefail
folder=$(mktemp -d -p "$MADE")
touch "$folder"/{card,Shell.v,Shell.crossings.tcl}
echo "$folder/card"
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A checkout of the last commit with the stand-ins."""
    folder = tmp_path / "clone"
    history.git(ROOT, "clone", "-q", "--shared", str(ROOT), str(folder))
    for key, value in (("user.name", "T"), ("user.email", "t@example.com"), ("commit.gpgsign", "false")):
        history.git(folder, "config", key, value)
    shutil.copy(ROOT / "scripts/build/build-release", folder / "scripts/build")
    (folder / "scripts/build/build-deb").write_text(PACKAGES)
    (folder / "scripts/build-card").write_text(VERILOG)
    history.git(folder, "commit", "-qam", "tests: stand-ins")
    return folder


def release(clone: Path, *options: str) -> subprocess.CompletedProcess[str]:
    made = clone.parent / "made"
    made.mkdir()
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(clone.parent), "MADE": str(made)}
    command = [str(clone / "scripts/build/build-release"), "--output", str(clone.parent / "out"), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_boards_whose_data_are_public_have_verilog(clone: Path) -> None:
    done = release(clone)
    assert done.returncode == 0, done.stderr
    assert "fb4xxvg-z21d: no Verilog, because the board's data are not public" in done.stderr
    folder = Path(done.stdout.strip()) / "verilog"
    assert sorted(path.name for path in folder.iterdir()) == ["t1-rfsoc", "zcu106"]


def test_a_board_with_a_fault_is_told(clone: Path) -> None:
    board = clone / "vivado/boards/zcu106/board.tcl"
    board.write_text(board.read_text().replace("board ports", "board port"))
    history.git(clone, "commit", "-qam", "vivado: a fault")
    done = release(clone)
    assert done.returncode == 1
    assert "unknown key port" in done.stderr and "zcu106" in done.stderr.splitlines()[-1]
    assert not (clone.parent / "out").exists()


def test_a_board_whose_verilog_cannot_be_made_ends_the_release(clone: Path) -> None:
    (clone / "scripts/build-card").write_text("#!/bin/bash\necho '[card] the generator failed' >&2\nexit 3\n")
    history.git(clone, "commit", "-qam", "tests: no generator")
    done = release(clone)
    assert done.returncode == 3 and done.stderr.splitlines()[-1] == "[card] the generator failed"
    assert not (clone.parent / "out").exists()


def test_a_file_that_git_does_not_know_is_refused(clone: Path) -> None:
    """It would be in the release, and not in its source archive."""
    (clone / "host-driver/include/own.h").touch()
    done = release(clone, "--no-verilog")
    assert done.returncode == 1 and "edits or files that are not committed" in done.stderr


@pytest.mark.parametrize("change", ["git commit -q --allow-empty -m later", "touch host-driver/include/own.h"])
def test_a_checkout_that_changes_meanwhile_is_refused(clone: Path, change: str) -> None:
    (clone / "scripts/build/build-deb").write_text(PACKAGES + change + "\n")
    history.git(clone, "commit", "-qam", "tests: a change while it is made")
    done = release(clone, "--no-verilog")
    assert done.returncode == 1 and "the checkout was changed while the release was made" in done.stderr
    assert not (clone.parent / "out").exists()


def test_packages_of_two_commits_are_refused(clone: Path) -> None:
    """Their version would be that of one, and their files those of the other."""
    shutil.copy(ROOT / "scripts/build/build-deb", clone / "scripts/build")
    for name, text in {
        "scripts/setup": "git commit -q --allow-empty -m later",
        "scripts/build/fetch-source": "echo /nowhere",
        "scripts/xz": "exec cat",  # quicker
        "packaging/debian/rules": "exit 1",
    }.items():
        (clone / name).write_text(f"#!/bin/sh\n{text}\n")
        (clone / name).chmod(0o755)
    history.git(clone, "add", "-A")
    history.git(clone, "commit", "-qm", "tests: a change while packages are made")
    environment = {"PATH": f"{clone}/scripts:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(clone.parent)}
    command = [str(clone / "scripts/build/build-deb"), "--output", str(clone.parent / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "a commit was made while the packages were" in done.stderr, done.stderr


def packages(clone: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """What scripts/build/build-deb does with stand-ins for Debian's tools, on a machine where scripts/setup installs Python."""
    made = "#!/bin/sh\nread -r _ version _ <debian/changelog\nversion=${version#(} && version=${version%)}\ncd ..\n"
    made += 'touch "meridian_$version.dsc" "meridian_${version}_amd64.changes" "meridian-tools_${version}_all.deb"\n'
    script = (ROOT / "scripts/build/build-deb").read_text()
    system = "PATH=/usr/sbin:/usr/bin:/sbin:/bin nice -n 10 "
    assert script.count(system) == 2
    for name, text in {
        "scripts/build/build-deb": script.replace(system, ""),
        "scripts/setup": '#!/bin/sh\ntouch "$HOME/installed"\n',
        "scripts/python3": '#!/bin/sh\n[ -e "$HOME/installed" ] && exec /usr/bin/python3 "$@"\nexit 127\n',
        "scripts/build/fetch-source": "#!/bin/sh\necho /nowhere\n",
        "scripts/xz": "#!/bin/sh\nexec cat\n",  # quicker
        "scripts/dpkg-buildpackage": made,
        "scripts/lintian": "#!/bin/sh\n",
    }.items():
        (clone / name).write_text(text)
        (clone / name).chmod(0o755)
    history.git(clone, "add", "-A")
    history.git(clone, "commit", "-qm", "tests: packages in no time")
    environment = {"PATH": f"{clone}/scripts:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(clone.parent)}
    command = [str(clone / "scripts/build/build-deb"), "--output", str(out)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_packages_are_made_on_a_machine_that_has_no_python_yet(clone: Path) -> None:
    done = packages(clone, clone.parent / "out")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 3


def test_packages_take_the_place_of_earlier_ones_and_of_nothing_else(clone: Path) -> None:
    """The folder may be one that has other files."""
    out = clone.parent / "out"
    out.mkdir()
    kept = {"meridian-notes.tar.xz", "photos-of-meridian.tar.xz", "meridian.dsc"}
    old = {"meridian_0.1~1.orig.tar.xz", "meridian_0.1~1-1~deb12.dsc", "libmeridian1-dbgsym_0.1~1-1~deb12_amd64.deb"}
    for name in kept | old:
        (out / name).touch()
    done = packages(clone, out)
    assert done.returncode == 0, done.stderr
    told = set(done.stdout.split())
    assert {str(path) for path in out.iterdir() if path.name not in kept} == told and len(told) == 3
    assert kept <= {path.name for path in out.iterdir()}


def test_a_file_that_git_does_not_know_is_refused_whatever_git_is_told_to_show(clone: Path) -> None:
    history.git(clone, "config", "status.showUntrackedFiles", "no")
    (clone / "host-driver/include/mine.h").touch()
    done = release(clone, "--no-verilog")
    assert done.returncode == 1 and "files that are not committed" in done.stderr


def test_a_relative_output_is_below_the_folder_of_the_caller(clone: Path) -> None:
    folder = clone.parent / "caller"
    folder.mkdir()
    command = [str(clone / "scripts/build/build-release"), "--output", "out", "--no-verilog"]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(clone.parent)}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and Path(done.stdout.strip()).parent == folder / "out", done.stderr
    assert not history.git(clone, "status", "--porcelain")
