# SPDX-License-Identifier: Apache-2.0
"""What recipes name is there, and what is there is named."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ROOT / "meta-layer"
RECIPES = [recipe for recipe in sorted(LAYERS.rglob("*.bb")) if "file://" in recipe.read_text()]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_a_recipe_names_each_file_of_its_folder_and_no_other(recipe: Path) -> None:
    sources = re.search(r'^SRC_URI = "(.*?)"$', recipe.read_text(), re.DOTALL | re.MULTILINE)
    assert sources
    named = set(re.findall(r"file://([^\s%]+)", sources[1]))
    if recipe.stem.startswith("meridian-ps_"):
        shared = {file.name for file in (ROOT / "host-driver/include").iterdir()}
        assert shared <= named
        named -= shared
    if recipe.stem.startswith("meridian-tools_"):
        return  # all of its files are outside of the layer: test_the_self_test_is_installed() takes them
    folder = recipe.parent / "files"
    if recipe.stem.startswith("meridian-bitstream"):
        assert not named
    else:
        assert named == {file.name for file in folder.iterdir() if file.suffix not in {".o", ".ko", ".mod", ".cmd"}}


def test_the_twin_s_card_gets_what_recipes_install(tmp_path: Path) -> None:
    """As build-sd does it: from the sources that recipes name, folders with all that is in them, by their own steps."""
    names = re.findall(
        r"meta-\S+/recipes-[^\s)]+", (ROOT / "scripts/build/build-sd").read_text().split("recipes=(")[1].split(")")[0]
    )
    recipes, sources, root = [LAYERS / name for name in names], tmp_path / "sources", tmp_path / "root"
    assert len(recipes) == 4
    sources.mkdir()
    steps = 'source "$0"; layer_install "$@"; printf "%s\\n" "${units[@]}"'
    command = ["bash", "-euo", "pipefail", "-c", steps, ROOT / "scripts/lib/layer.sh", sources, root, *recipes]
    environment = {"MERIDIAN_ROOT": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    for source in (file for recipe in recipes for file in (recipe / "files").rglob("*")):
        (copy,) = sources.rglob(source.name)
        assert copy.is_dir() if source.is_dir() else copy.read_bytes() == source.read_bytes(), copy
    installed = {file.name for file in root.rglob("*") if file.is_file()}
    units = {re.sub("@[^.]*", "@", unit) for unit in done.stdout.split()}
    assert units
    assert {*units, "ptp.conf", "register-map", "meridian-update"} <= installed


def test_a_step_of_a_recipe_that_fails_ends_the_build(tmp_path: Path) -> None:
    recipe, sources, root = (tmp_path / name for name in ("recipe", "sources", "root"))
    for folder in (recipe / "files", sources, root):
        folder.mkdir(parents=True)
    (recipe / "files/there").touch()
    steps = "install ${S}/there ${D}/first\n    install ${S}/missing ${D}\n    install ${S}/there ${D}/last"
    (recipe / "a_0.1.bb").write_text(f'SRC_URI = "file://there"\n\ndo_install() {{\n    {steps}\n}}\n')
    words = [ROOT / "scripts/lib/layer.sh", sources, root, recipe]
    command = ["bash", "-euo", "pipefail", "-c", 'source "$0"; layer_install "$@"; echo done', *words]
    environment = {"MERIDIAN_ROOT": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.returncode and "missing" in done.stderr and not done.stdout
    assert [file.name for file in root.iterdir()] == ["first"]


def test_the_driver_tells_its_register_map() -> None:
    """By the recipe's own sed, on the generated header."""
    recipe = (LAYERS / "meta-meridian/recipes-kernel/meridian-ps/meridian-ps_0.1.bb").read_text()
    expression = re.search(r"sed -n -e '([^']*)'", recipe)
    assert expression
    command = ["sed", "-n", "-e", expression[1], str(ROOT / "host-driver/include/meridian_regs.h")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    assert re.fullmatch(r"MAJOR=[0-9]+\nMINOR=[0-9]+\n", told)


def test_the_self_test_is_installed(tmp_path: Path) -> None:
    """By the recipe's own steps, from the files that it names; there it finds its register map and its boards."""
    recipe = (LAYERS / "meta-meridian/recipes-support/meridian-tools/meridian-tools_0.1.bb").read_text()
    folder = LAYERS / "meta-meridian/recipes-support/meridian-tools"
    paths = re.search(r'^FILESEXTRAPATHS:prepend := "(.*):"$', recipe, re.MULTILINE)
    steps = re.search(r"^do_install\(\) \{\n(.*?)^\}$", recipe, re.DOTALL | re.MULTILINE)
    assert paths and steps
    places = [Path(path.replace("${THISDIR}", str(folder))) for path in paths[1].split(":")]
    work, image = tmp_path / "work", tmp_path / "image"
    work.mkdir()
    for name in re.findall(r"file://(\S+)", recipe.split("SRC_URI")[1].split('"')[1]):
        (source,) = (place / name for place in places if (place / name).exists())
        (shutil.copytree if source.is_dir() else shutil.copy)(source, work / name)
    values = {"D": str(image), "S": str(work), "PV": "0.1", "datadir": "/usr/share", "bindir": "/usr/bin"}
    # bitbake puts its variables in before the shell sees them.
    script = re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], steps[1])
    subprocess.run(["sh", "-euc", script], check=True, timeout=60)
    assert (image / "usr/bin/meridian-selftest").readlink() == Path("/usr/share/meridian-tools/meridian-selftest")
    program = image / "usr/share/meridian-tools/meridian-selftest"
    ask = "from meridian_selftest import VERSION, boards, registers; print(VERSION, registers.header(), *boards.all_boards())"
    done = subprocess.run(
        ["python3", "-c", ask], cwd=program.parent, capture_output=True, text=True, timeout=60, check=True
    )
    names = [board.parent.name for board in sorted((ROOT / "vivado/boards").glob("*/board.tcl"))]
    assert done.stdout.split() == ["0.1", str(program.parent / "meridian_regs.h"), *names]
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=60, check=True).stdout
    said = subprocess.run(
        [image / "usr/share/meridian-tools/meridian-eye", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert said.stdout == "meridian-eye 0.1\n"
    assert (image / "usr/bin/meridian-eye").readlink() == Path("/usr/share/meridian-tools/meridian-eye")
    assert "dma-pattern" in listed and not list(program.parent.rglob("__pycache__/main*"))


# Of the PS's preset: name of a peripheral there, its nodes in the kernel's tree of the board.
PERIPHERALS = {
    "CAN1": ["can1"],
    "DISPLAYPORT": ["zynqmp_dpdma", "zynqmp_dpsub"],
    "ENET3": ["gem3"],
    "I2C0": ["i2c0"],
    "I2C1": ["i2c1"],
    "SATA": ["sata"],
    "SD1": ["sdhci1"],
    "UART0": ["uart0"],
    "UART1": ["uart1"],
    "USB0": ["usb0"],
}


def test_the_tree_has_no_peripheral_that_the_preset_lacks() -> None:
    """A register that is read without its clock hangs the processors."""
    preset = (ROOT / "vivado/boards/zcu106/ps.tcl").read_text()
    tree = (LAYERS / "meta-meridian-bsp/recipes-bsp/device-tree/files/meridian-zcu106.dts").read_text()
    off = set(re.findall(r'&(\w+) \{\s+status = "disabled";', tree))
    for name, nodes in PERIPHERALS.items():
        lacks = f"PSU__{name}__PERIPHERAL__ENABLE 1" not in preset
        assert [node for node in nodes if (node in off) != lacks] == [], name


# SYSMON as the kernel's binding (xlnx,zynqmp-ams) and tree have it, which is off.
BOARD = """/dts-v1/;
/ {
	#address-cells = <2>;
	#size-cells = <2>;
	gic: interrupt-controller { interrupt-controller; #interrupt-cells = <3>; };
	xilinx_ams: ams@ffa50000 {
		compatible = "xlnx,zynqmp-ams";
		status = "disabled";
		reg = <0x0 0xffa50000 0x0 0x800>;
		#address-cells = <1>;
		#size-cells = <1>;
		ranges = <0 0 0xffa50800 0x800>;
		ams_ps: ams-ps@0 { compatible = "xlnx,zynqmp-ams-ps"; status = "disabled"; reg = <0 0x400>; };
		ams_pl: ams-pl@400 { compatible = "xlnx,zynqmp-ams-pl"; status = "disabled"; reg = <0x400 0x400>; };
	};
};
"""


def test_linux_reads_the_sysmon(tmp_path: Path) -> None:
    """The kernel has the driver that meridian-selftest looks for, and a board's tree with what its machine appends has
    all of SYSMON's nodes on."""
    options = (LAYERS / "meta-meridian-bsp/recipes-kernel/linux/files/meridian.cfg").read_text().splitlines()
    assert {"CONFIG_IIO=y", "CONFIG_XILINX_AMS=y"} <= set(options)
    machine = (LAYERS / "meta-meridian-bsp/conf/machine/include/meridian.inc").read_text()
    (appended,) = re.findall(r'^EXTRA_DT_INCLUDE_FILES = "\$\{.*?\} (.*)"$', machine, re.MULTILINE)
    tree = tmp_path / "board.dts"
    tree.write_text(BOARD + "".join(f'/include/ "{name}"\n' for name in appended.split()))
    folder = LAYERS / "meta-meridian-bsp/recipes-bsp/device-tree/files"
    command = ["dtc", "-q", "-i", folder, "-O", "dtb", "-o", tmp_path / "board.dtb", tree]
    subprocess.run(command, check=True, timeout=60)
    for node in ("", "/ams-ps@0", "/ams-pl@400"):
        command = ["fdtget", tmp_path / "board.dtb", f"/ams@ffa50000{node}", "status"]
        assert subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout == "okay\n", node


# The ZCU106's second controller as the kernel has it; a tree of a hand-off has no multiplexer behind it.
CAGES = """/dts-v1/;
/ {
	#address-cells = <2>;
	#size-cells = <2>;
	gic: interrupt-controller { interrupt-controller; #interrupt-cells = <3>; };
	i2c1: i2c@ff030000 { reg = <0 0xff030000 0 0x1000>; #address-cells = <1>; #size-cells = <0>; };
};
/include/ "meridian.dtsi"
/include/ "meridian-zcu106-latency.dtsi"
/include/ "meridian-zcu106-modules.dtsi"
"""


def test_each_port_of_the_zcu106_names_the_bus_of_its_cage(tmp_path: Path) -> None:
    tree = tmp_path / "board.dts"
    tree.write_text(CAGES)
    folder = LAYERS / "meta-meridian-bsp/recipes-bsp/device-tree/files"
    command = ["dtc", "-q", "-i", folder, "-O", "dtb", "-o", tmp_path / "board.dtb", tree]
    subprocess.run(command, check=True, timeout=60)

    def cell(node: str, name: str) -> str:
        command = ["fdtget", tmp_path / "board.dtb", node, name]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    mux = "/i2c@ff030000/i2c-mux@75"
    assert cell(mux, "compatible") == "nxp,pca9548\n"
    for port, channel in ((0, 7), (1, 6)):
        bus = cell(f"/ethernet@a0000000/ethernet-ports/ethernet-port@{port}", "meridian,module-bus")
        assert bus == cell(f"{mux}/i2c@{channel}", "phandle"), port
    options = (LAYERS / "meta-meridian-bsp/recipes-kernel/linux/files/meridian.cfg").read_text().splitlines()
    assert {"CONFIG_I2C_CHARDEV=y", "CONFIG_I2C_MUX_PCA954x=y"} <= set(options)


def test_the_image_has_the_self_test() -> None:
    group = (LAYERS / "meta-meridian/recipes-core/packagegroups/packagegroup-meridian.bb").read_text()
    assert re.search(r'^RRECOMMENDS:\$\{PN\} = "meridian-tools"$', group, re.MULTILINE)
    image = (LAYERS / "meta-meridian/recipes-core/images/meridian-image.bb").read_text()
    assert 'IMAGE_INSTALL:append = " packagegroup-meridian"' in image and "NO_RECOMMENDATIONS" not in image


def test_each_tree_that_a_machine_names_is_there() -> None:
    """And each that is there is named."""
    folder, names = LAYERS / "meta-meridian-bsp/recipes-bsp/device-tree/files", set()
    for file in (LAYERS / "meta-meridian-bsp/conf/machine").rglob("*.*"):
        names |= set(
            re.findall(r"[\w-]+\.dtsi?\b", " ".join(re.findall(r"^[A-Z_]+ .?= .*", file.read_text(), re.MULTILINE)))
        )
    assert names == {file.name for file in folder.iterdir()}


def test_two_files_of_the_name_that_a_recipe_takes_are_refused(tmp_path: Path) -> None:
    recipe, sources = tmp_path / "one", tmp_path / "sources"
    sources.mkdir()
    for folder in ("files", "files/more"):
        (recipe / folder).mkdir(parents=True)
        (recipe / folder / "word").touch()
    (recipe / "one.bb").write_text('SRC_URI = "file://word"\n')
    steps = 'source "$0"; layer_sources "$@"'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", steps, ROOT / "scripts/lib/layer.sh", recipe, sources],
        capture_output=True, text=True, timeout=60, check=False, env={"MERIDIAN_ROOT": str(ROOT), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 1 and "takes word, and there are several: " in done.stderr, done
    assert not list(sources.iterdir())
