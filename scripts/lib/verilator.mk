# SPDX-License-Identifier: Apache-2.0
# GNU make reads this before the makefiles that Verilator writes for SpinalHDL's simulations, where the variable MAKEFILES
# names it (scripts/sbt). SpinalHDL asks for a compiler run for each of the small files of a model, which takes three times
# as long as one for all of them: most of their text is the same headers.
override VM_PARALLEL_BUILDS := 0
# Of Verilator's own library, simulations of a block use what starts and ends them.
override OPT_GLOBAL := -O0
# Most of the text of a model, and of what connects it to the JVM, is the same headers.
%__ALL.o %__spinalWrapper.o: override CXX := $(MERIDIAN_ROOT)/scripts/lib/model-c++
# Verilator's own library is the same for all models, so ccache need not run the preprocessor to know it again.
unexport CCACHE_NODIRECT
