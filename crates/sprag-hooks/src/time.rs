//! Points in time as transcripts write them: RFC 3339, or milliseconds since 1970.

use sprag_core::Timestamp;

/// `2026-11-16T02:09:10.199Z`, `2026-11-16T04:09:10+02:00`, `2026-11-16`.
///
/// Transcripts have one on every line, so this reads digits and builds nothing.
#[must_use]
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<u64> {
        let digits = bytes.get(from..to)?;
        digits.iter().try_fold(0_u64, |sum, byte| {
            let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
            Some(sum * 10 + u64::from(digit))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let dashes = bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'-');
    let valid = dashes && (1970..=9999).contains(&year) && (1..=12).contains(&month);
    if !valid || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_since_1970(year, month, day);
    if bytes.len() == 10 {
        return Some(Timestamp(days * 86_400_000));
    }
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    let rest = bytes.get(19..)?;
    let (millis, zone) = fraction(rest);
    let shift = offset(zone)?;
    let at = (seconds * 1_000 + millis).checked_add_signed(-shift)?;
    Some(Timestamp(at))
}

/// Milliseconds of `.199Z`, and what follows them.
fn fraction(rest: &[u8]) -> (u64, &[u8]) {
    let Some(digits) = rest.strip_prefix(b".") else {
        return (0, rest);
    };
    let length = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, zone) = digits.split_at_checked(length).unwrap_or((digits, &[]));
    let weights = [100, 10, 1].into_iter();
    let millis = digits.iter().zip(weights);
    let millis = millis.map(|(byte, weight)| u64::from(byte.saturating_sub(b'0')) * weight);
    (millis.sum(), zone)
}

/// The milliseconds that a zone is ahead of UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, rest) = match zone.split_first() {
        None | Some((b'Z' | b'z', _)) => return Some(0),
        Some((b'+', rest)) => (1, rest),
        Some((b'-', rest)) => (-1, rest),
        Some(_) => return None,
    };
    let text = std::str::from_utf8(rest).ok()?;
    let hours: i64 = text.get(..2)?.parse().ok()?;
    let minutes: i64 = text.get(2..)?.trim_start_matches(':').parse().unwrap_or(0);
    Some(sign * (hours * 60 + minutes) * 60_000)
}

/// Days of the Gregorian calendar; a year starts in March here, so that the leap day is its last.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    days.saturating_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag::rfc3339;

    #[test]
    fn what_is_written_is_read_back() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "2000-02-29T23:59:59.999Z",
            "2026-11-16T02:09:10.199Z",
            "2100-03-01T00:00:00.000Z",
        ] {
            assert_eq!(rfc3339(parse_time(text).unwrap()), text);
        }
    }

    #[test]
    fn zones_fractions_and_bare_days_are_understood() {
        let at = |text| rfc3339(parse_time(text).unwrap());
        assert_eq!(at("2026-11-16T04:09:10+02:00"), "2026-11-16T02:09:10.000Z");
        assert_eq!(at("2026-11-15T23:09:10.5-0300"), "2026-11-16T02:09:10.500Z");
        assert_eq!(
            at("2026-11-16T02:09:10.123456Z"),
            "2026-11-16T02:09:10.123Z"
        );
        assert_eq!(at("2026-11-16"), "2026-11-16T00:00:00.000Z");
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-11-16T",
            "2026/11/16",
            "١٩٧٠-01-01",
            "2026-11-16T02:09:10?",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
