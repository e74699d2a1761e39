//! Words that several messages share.

use crate::time::Millis;

/// `5 minutes`, `1 hour`, `90 seconds`: the largest unit that expresses it exactly.
pub(crate) fn duration(span: Millis) -> String {
    let units = [
        (Millis::HOUR, "hour"),
        (Millis::MINUTE, "minute"),
        (Millis::SECOND, "second"),
    ];
    let exact = units
        .into_iter()
        .find(|(unit, _)| span.0 > 0 && span.0.is_multiple_of(unit.0));
    let (count, name) = exact.map_or((span.0, "millisecond"), |(unit, name)| {
        (span.0 / unit.0, name)
    });
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_said_in_its_largest_exact_unit() {
        for (ms, said) in [
            (300_000, "5 minutes"),
            (60_000, "1 minute"),
            (90_000, "90 seconds"),
            (7_200_000, "2 hours"),
            (250, "250 milliseconds"),
        ] {
            assert_eq!(duration(Millis(ms)), said);
        }
    }
}
