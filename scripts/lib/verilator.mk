# SPDX-License-Identifier: Apache-2.0
# GNU make reads this before the makefiles that Verilator writes for SpinalHDL's simulations, where the variable MAKEFILES
# names it (scripts/sbt). SpinalHDL asks for a compiler run for each of the small files of a model, which takes three times
# as long as one for all of them: most of their text is the same headers.
override VM_PARALLEL_BUILDS := 0
# Of Verilator's own library, simulations of a block use what starts and ends them.
override OPT_GLOBAL := -O0
