//! Points in time as people and other programs write them: RFC 3339, in UTC.

use sprag_core::{Millis, Timestamp};

/// `2026-02-03T04:05:06.007Z`.
#[must_use]
pub fn rfc3339(at: Timestamp) -> String {
    let (year, month, day) = date(at.utc_day());
    let in_day = at.0 % Millis::DAY.0;
    let (hours, minutes) = (in_day / Millis::HOUR.0, in_day / Millis::MINUTE.0 % 60);
    let (seconds, millis) = (in_day / 1_000 % 60, in_day % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
}

/// The date of a day counted from 1970-01-01, in the Gregorian calendar: a year starts in March
/// here, so that the leap day is its last.
fn date(day: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    let day = day.saturating_add(719_468);
    let (era, of_era) = (day / ERA, day % ERA);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / (ERA - 1)) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let in_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, turn) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + turn, month, in_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_turns_of_centuries() {
        for (at, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_760_000_000_007, "2025-10-09T08:53:20.007Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(Timestamp(at)), text);
        }
    }

    #[test]
    fn the_end_of_time_has_a_date_too() {
        assert!(rfc3339(Timestamp(u64::MAX)).ends_with('Z'));
    }
}
