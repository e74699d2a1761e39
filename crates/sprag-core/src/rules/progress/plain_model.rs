//! The plain matrix against a model that keeps everything and looks it up from scratch.

use super::scenarios::TracedRun;

/// The matrix with a memory that is a list of everything, looked through from its end.
fn naive_plain(steps: &[(u64, u64)]) -> Vec<(u32, u32)> {
    let seen = |upto: usize, key: u64, of: fn(&(u64, u64)) -> u64| {
        let mut recent = Vec::new();
        for step in steps[..upto].iter().rev() {
            if !recent.contains(&of(step)) {
                recent.push(of(step));
            }
        }
        recent.iter().take(256).any(|held| *held == key)
    };
    let (mut stagnation, mut stuck) = (0, 0);
    steps
        .iter()
        .enumerate()
        .map(|(at, (approach, outcome))| {
            let known = (seen(at, *approach, |s| s.0), seen(at, *outcome, |s| s.1));
            (stagnation, stuck) = match known {
                (_, false) => (0, 0),
                (true, true) => (stagnation + 1, 0),
                (false, true) => (0, stuck + 1),
            };
            (stagnation, stuck)
        })
        .collect()
}

#[test]
fn the_plain_matrix_agrees_with_a_model_that_keeps_everything() {
    let mut seed = 7_u64;
    for range in [2, 3, 10, 300, 400] {
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % range
        };
        let steps: Vec<(u64, u64)> = (0..700).map(|_| (draw(), draw())).collect();
        let mut run = TracedRun::plain();
        for (at, (stagnation, stuck)) in naive_plain(&steps).into_iter().enumerate() {
            let (approach, outcome) = steps[at];
            run.run(&format!("a{approach}"), &format!("o{outcome}"));
            let streaks = run.progress.streaks;
            assert_eq!(
                (u32::from(streaks.stagnation), u32::from(streaks.stuck)),
                (stagnation, stuck),
                "range {range}, step {at}"
            );
        }
    }
}
