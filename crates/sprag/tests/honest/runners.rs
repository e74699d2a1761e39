//! Test runners whose failures differ in noise only, and those that get better.

use serde_json::json;

use crate::session::{Act, Look, Numbers, Report};

/// What a runner prints for one and the same failure: `#` numbers are noise and differ each time.
struct Runner {
    command: &'static str,
    output: fn(&mut Numbers, failed: u64) -> String,
}

fn hex(numbers: &mut Numbers, digits: usize) -> String {
    (0..digits)
        .map(|_| char::from_digit(u32::try_from(numbers.below(16)).unwrap(), 16).unwrap())
        .collect()
}

/// Lines that a parallel runner prints in any order.
fn shuffled(numbers: &mut Numbers, mut lines: Vec<String>) -> String {
    for at in (1..lines.len()).rev() {
        let other = usize::try_from(numbers.below(at as u64 + 1)).unwrap();
        lines.swap(at, other);
    }
    lines.join("\n")
}

const RUNNERS: &[Runner] = &[
    Runner {
        command: "cargo test",
        output: |n, failed| {
            let mut lines: Vec<String> = (0..8)
                .map(|t| format!("test store::case_{t} ... ok"))
                .collect();
            lines.extend((0..failed).map(|t| format!("test sync::case_{t} ... FAILED")));
            format!(
                "running {} tests\n{}\n\nthread 'sync::case_0' ({}) panicked at src/sync.rs:88:9:\nassertion `left == right` failed\n  left: 3\n right: 4\n\ntest result: FAILED. 8 passed; {failed} failed; finished in 0.{}s",
                8 + failed,
                shuffled(n, lines),
                100_000 + n.below(900_000),
                n.below(99)
            )
        },
    },
    Runner {
        command: "cargo nextest run",
        output: |n, failed| {
            format!(
                "    Starting 9 tests across 2 binaries (run ID: {}, nextest profile: default)\n        FAIL [   0.0{}s] sync case_0\nthread 'case_0' ({}) panicked at src/sync.rs:88:9\n     Summary [   0.1{}s] 9 tests run: 8 passed, {failed} failed",
                hex(n, 8),
                n.below(99),
                n.below(999_999),
                n.below(99)
            )
        },
    },
    Runner {
        command: "pytest -q",
        output: |n, failed| {
            format!(
                "........F\n=== FAILURES ===\n___ test_sync ___\ntmp_path = PosixPath('/tmp/pytest-of-ada/pytest-{}/test_sync0')\n>       assert left == right\nE       assert 3 == 4\n=== short test summary info ===\nFAILED tests/test_sync.py::test_sync - assert 3 == 4\n{failed} failed, 8 passed in 0.{}s",
                n.below(400),
                n.below(99)
            )
        },
    },
    Runner {
        command: "pytest -n 4 -p randomly",
        output: |n, failed| {
            let order = shuffled(
                n,
                (0..6)
                    .map(|w| format!("[gw{w}] PASSED tests/test_a.py::test_{w}"))
                    .collect(),
            );
            format!(
                "Using --randomly-seed={}\n{order}\nE   sqlite3.OperationalError: unable to open database file /private/var/folders/x{}/T/pytest-of-ada/pytest-{}/db0\n{failed} failed, 6 passed in 1.{}s",
                n.below(4_000_000_000),
                n.below(99),
                n.below(400),
                n.below(99)
            )
        },
    },
    Runner {
        command: "npm test",
        output: |n, failed| {
            format!(
                "\n> app@1.0.0 test\n> jest\n\nFAIL src/sync.test.js\n  ● sync › keeps order\n    expect(received).toBe(expected)\n    Expected: 4\n    Received: 3\n\nTests:       {failed} failed, 8 passed, {} total\nTime:        0.{} s, estimated 1 s\nnpm error A complete log of this run can be found in: /home/user/.npm/_logs/2026-03-0{}T10_{}_00_{}Z-debug-0.log",
                8 + failed,
                n.below(999),
                1 + n.below(9),
                10 + n.below(49),
                n.below(999)
            )
        },
    },
    Runner {
        command: "npx vitest run",
        output: |n, failed| {
            format!(
                " FAIL  src/sync.test.ts > sync > keeps order\nAssertionError: expected 3 to be 4\n Tests  {failed} failed | 8 passed\n   Start at  10:{}:{}\n   Duration  {}ms (transform {}ms, setup 0ms)",
                10 + n.below(49),
                10 + n.below(49),
                n.below(900),
                n.below(90)
            )
        },
    },
    Runner {
        command: "go test ./...",
        output: |n, failed| {
            format!(
                "--- FAIL: TestSync (0.0{}s)\n    sync_test.go:41: got 3, want 4\npanic: goroutine {} [running]:\nmain.sync(0xc000{}, 0x1)\n\t/tmp/go-build{}/b001/sync.go:17 +0x{}\nFAIL\tapp/sync\t0.0{}s\n{failed} failures",
                n.below(9),
                n.below(90),
                hex(n, 6),
                n.below(4_000_000_000),
                hex(n, 2),
                n.below(99)
            )
        },
    },
    Runner {
        command: "mvn -q test",
        output: |n, failed| {
            format!(
                "[ERROR] Tests run: 9, Failures: {failed}, Errors: 0, Skipped: 0, Time elapsed: 0.{} s <<< FAILURE!\n[ERROR] SyncTest.keepsOrder:41 expected:<4> but was:<3>\norg.junit.ComparisonFailure\n\tat SyncTest$$Lambda${}/0x{}.run(Unknown Source)",
                n.below(999),
                n.below(400),
                hex(n, 16)
            )
        },
    },
    Runner {
        command: "./gradlew test",
        output: |n, failed| {
            format!(
                "> Task :test FAILED\nSyncTest > keepsOrder() FAILED\n    AssertionFailedError at SyncTest.java:41\n9 tests completed, {failed} failed\nSee the report at: file:///tmp/gradle-{}/reports/index.html\nBUILD FAILED in {}s",
                n.below(99_999),
                n.below(30)
            )
        },
    },
    Runner {
        command: "ctest",
        output: |n, failed| {
            format!(
                "1/2 Test #1: sync .......***Failed    0.{} sec\nsync: main.c:41: Assertion `left == right' failed.\n{} Aborted (core dumped) core.{}\n{failed} tests failed out of 9",
                n.below(99),
                n.below(99_999),
                n.below(99_999)
            )
        },
    },
    Runner {
        command: "bundle exec rspec",
        output: |n, failed| {
            format!(
                "Randomized with seed {}\n..F\nFailures:\n  1) Sync keeps order\n     expected: 4\n          got: 3\nFinished in 0.0{} seconds (files took 0.{} seconds to load)\n9 examples, {failed} failures",
                n.below(65_535),
                n.below(999),
                n.below(99)
            )
        },
    },
    Runner {
        command: "vendor/bin/phpunit",
        output: |n, failed| {
            format!(
                "PHPUnit 11.0\n..F  9 / 9 (100%)\nTime: 00:00.0{}, Memory: {}.50 MB\nThere was 1 failure:\nFailed asserting that 3 matches expected 4.\nFAILURES!\nTests: 9, Assertions: 9, Failures: {failed}.",
                n.below(99),
                8 + n.below(4)
            )
        },
    },
    Runner {
        command: "dotnet test",
        output: |n, failed| {
            format!(
                "Failed SyncTests.KeepsOrder [{} ms]\n  Assert.Equal() Failure\n  Expected: 4\n  Actual:   3\nFailed!  - Failed: {failed}, Passed: 8, Skipped: 0, Total: {}, Duration: {} ms",
                n.below(90),
                8 + failed,
                n.below(900)
            )
        },
    },
    Runner {
        command: "mix test",
        output: |n, failed| {
            format!(
                "Running ExUnit with seed: {}, max_cases: 4\n  1) test keeps order (SyncTest)\n     ** (EXIT from #PID<0.{}.0>) no process\n     left: 3\n     right: 4\nFinished in 0.0{} seconds\n9 tests, {failed} failures",
                n.below(999_999),
                100 + n.below(800),
                n.below(99)
            )
        },
    },
    Runner {
        command: "docker build .",
        output: |n, failed| {
            format!(
                "#9 [5/7] RUN make check\n#9 {}.{} sync.c:41: error: 'left' undeclared\n#9 ERROR: process \"/bin/sh -c make check\" did not complete successfully: exit code: 2\n{failed} errors\nView build details: docker-desktop://dashboard/build/default/default/{}",
                n.below(9),
                n.below(999),
                hex(n, 25)
            )
        },
    },
    Runner {
        command: "make check",
        output: |n, failed| {
            format!(
                "cc -c sync.c -o /tmp/cc{}.o\nsync.c:41:9: error: expected ';' before 'return'\nmake[1]: *** [Makefile:12: sync.o] Error 1\nmake: Leaving directory '/build/run-{}'\n{failed} errors",
                hex(n, 6),
                n.below(9_999)
            )
        },
    },
    Runner {
        command: "bash run-tests.sh",
        output: |n, failed| {
            format!(
                "starting server on port {}\nrun-tests.sh: line 17: {} Segmentation fault (core dumped) ./sync-test\n{failed} failed",
                30_000 + n.below(30_000),
                n.below(99_999)
            )
        },
    },
    Runner {
        command: "python manage.py test",
        output: |n, failed| {
            format!(
                "Creating test database for alias 'default' ('test_{}')...\nF\nFAIL: test_order (sync.tests.SyncTest)\nAssertionError: 3 != 4\nRan 9 tests in 0.{}s\nFAILED (failures={failed})",
                hex(n, 8),
                n.below(999)
            )
        },
    },
    Runner {
        command: "ruby test/sync_test.rb",
        output: |n, failed| {
            format!(
                "Run options: --seed {}\nFailure:\nSyncTest#test_order [test/sync_test.rb:41]:\nExpected: 4\n  Actual: 3\nFinished in 0.00{}s, {}.{} runs/s.\n9 runs, 9 assertions, {failed} failures, 0 errors",
                n.below(65_535),
                n.below(9_999),
                n.below(900),
                n.below(99)
            )
        },
    },
    Runner {
        command: "swift test",
        output: |n, failed| {
            format!(
                "Test Suite 'All tests' started at 2026-03-01 10:{}:{}.{}\n/src/SyncTests.swift:41: error: keepsOrder : XCTAssertEqual failed: (\"3\") is not equal to (\"4\")\nExecuted 9 tests, with {failed} failures (0 unexpected) in 0.{} (0.{}) seconds",
                10 + n.below(49),
                10 + n.below(49),
                n.below(999),
                n.below(999),
                n.below(999)
            )
        },
    },
];

fn edit(n: u64) -> Act {
    let text = format!("let attempt_{n} = {};", n * 31);
    Look::new(
        3_000,
        "Edit",
        json!({ "file_path": "src/sync.rs", "new_string": text }),
        "The file src/sync.rs has been updated.",
    )
    .into()
}

fn test_run(runner: &Runner, numbers: &mut Numbers, failed: u64) -> Act {
    let output = (runner.output)(numbers, failed);
    Look::shell(2_000, runner.command, output)
        .takes(5_000)
        .failing()
        .into()
}

#[test]
fn fewer_failures_after_each_edit_are_progress() {
    let mut report = Report::default();
    for runner in RUNNERS {
        let mut numbers = Numbers::new(31);
        let mut acts = Vec::new();
        for n in 0..18 {
            acts.push(edit(n));
            acts.push(test_run(runner, &mut numbers, 20 - n));
        }
        report.honest(runner.command, &acts);
    }
    report.check(20);
}

#[test]
fn the_same_failure_through_all_edits_is_a_loop() {
    let mut report = Report::default();
    for runner in RUNNERS {
        let mut numbers = Numbers::new(32);
        let mut acts = Vec::new();
        for n in 0..25 {
            acts.push(edit(n));
            acts.push(test_run(runner, &mut numbers, 1));
        }
        report.twin(&format!("edits and {}", runner.command), &acts);
    }
    report.check(20);
}

#[test]
fn the_same_failure_without_any_edit_is_a_loop() {
    let mut report = Report::default();
    for runner in RUNNERS {
        let mut numbers = Numbers::new(33);
        let acts: Vec<Act> = (0..45).map(|_| test_run(runner, &mut numbers, 1)).collect();
        report.twin(&format!("only {}", runner.command), &acts);
    }
    report.check(20);
}

#[test]
fn a_value_that_changes_after_an_edit_is_honest_debugging() {
    let mut report = Report::default();
    for runner in RUNNERS {
        let mut numbers = Numbers::new(34);
        let mut acts = Vec::new();
        for n in 0..14_u64 {
            acts.push(edit(n));
            let output = (runner.output)(&mut numbers, 1);
            let got = format!("got {}.5, want 10", n * 3 % 11);
            let look = Look::shell(2_000, runner.command, format!("{got}\n{output}"));
            acts.push(look.takes(4_000).failing().into());
        }
        report.honest(runner.command, &acts);
    }
    report.check(20);
}
