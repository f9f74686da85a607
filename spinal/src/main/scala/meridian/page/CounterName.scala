// SPDX-License-Identifier: Apache-2.0
package meridian.page

/** A named 64-bit counter and where it stands, for the generated documents. */
case class CounterName(offset: BigInt, name: String, doc: String)
