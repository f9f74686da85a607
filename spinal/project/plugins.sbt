// SPDX-License-Identifier: Apache-2.0
addSbtPlugin("org.scalameta" % "sbt-scalafmt" % "2.5.4")
