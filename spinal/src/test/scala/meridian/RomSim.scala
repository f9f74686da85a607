// SPDX-License-Identifier: Apache-2.0
package meridian

import spinal.core.SpinalConfig
import spinal.core.sim._

/** How components with ROMs are simulated. The contents are in the Verilog: beside it they would be in a file with another
  * name each time, and SpinalHDL would not see that it has built the same simulation before.
  */
object RomSim {
  def config: SpinalSimConfig = SimConfig.withConfig(SpinalConfig(inlineRom = true))
}
