// SPDX-License-Identifier: Apache-2.0
ThisBuild / scalaVersion := "2.13.16"
ThisBuild / organization := "meridian"

ThisBuild / scalafmtConfig := file("../.scalafmt.conf")

val spinalVersion = "1.14.2"

lazy val shell = (project in file("."))
  .settings(
    name := "meridian-shell",
    libraryDependencies ++= Seq(
      "com.github.spinalhdl" %% "spinalhdl-core" % spinalVersion,
      "com.github.spinalhdl" %% "spinalhdl-lib" % spinalVersion,
      "com.github.scopt" %% "scopt" % "4.1.0",
      "org.scalatest" %% "scalatest" % "3.2.19" % Test,
      compilerPlugin("com.github.spinalhdl" %% "spinalhdl-idsl-plugin" % spinalVersion)
    ),
    scalacOptions ++= Seq("-deprecation", "-feature", "-language:reflectiveCalls"),
    // A user's module in SpinalHDL, for which scripts/sbt sets the variable.
    Compile / unmanagedSources ++= sys.env
      .getOrElse("MERIDIAN_BOX_SCALA", "")
      .split(",")
      .filter(_.nonEmpty)
      .map(file)
      .toSeq,
    fork := true,
    // The groups below are parallel, the classes of one are not.
    Test / parallelExecution := true,
    Test / testForkedParallel := false,
    // Proofs run beside simulations, as either takes one core most of the time. SpinalHDL's names of folders are unique in
    // a process only, so each process has its own folder.
    Test / testGrouping := {
      val options = (Test / forkOptions).value
      val folder = baseDirectory.value / "target" / "proofs"
      IO.createDirectory(folder)
      val (proofs, others) = (Test / definedTests).value.partition(_.name.endsWith("Formal"))
      Seq(
        Tests.Group("others", others, Tests.SubProcess(options)),
        Tests.Group("proofs", proofs, Tests.SubProcess(options.withWorkingDirectory(folder)))
      )
    },
    Global / concurrentRestrictions := Seq(Tags.limit(Tags.ForkedTestGroup, 2))
  )
