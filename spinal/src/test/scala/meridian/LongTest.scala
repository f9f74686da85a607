// SPDX-License-Identifier: Apache-2.0
package meridian

import org.scalatest.Tag

/** Tests that only make test-long runs. */
object LongTest extends Tag("meridian.LongTest")
