//! Totals as people read them.

/// `1,535`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 call`, `1,535 calls`.
#[must_use]
pub fn counted(number: usize, word: &str) -> String {
    let number = u64::try_from(number).unwrap_or(u64::MAX);
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {word}{ending}", count(number))
}

/// `950`, `12 k`, `1.2 M`.
#[must_use]
pub fn rough(number: u64) -> String {
    let scaled = |unit: u64, name: &str| {
        let tenths = number / (unit / 10);
        if tenths < 100 {
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        } else {
            format!("{} {name}", count(tenths / 10))
        }
    };
    match number {
        0..10_000 => count(number),
        10_000..1_000_000 => format!("{} k", number / 1_000),
        1_000_000..1_000_000_000 => scaled(1_000_000, "M"),
        _ => scaled(1_000_000_000, "G"),
    }
}

/// `8 s`, `12 min`, `2 h 5 min`, `3 days`.
#[must_use]
pub fn span(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 if (seconds / 60).is_multiple_of(60) => format!("{} h", seconds / 3_600),
        7_200..172_800 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// The same for one span that was measured: `under 1 s`.
#[must_use]
pub fn took(seconds: u64) -> String {
    if seconds == 0 {
        "under 1 s".to_owned()
    } else {
        span(seconds)
    }
}

/// `512 bytes`, `14 kB`, `1.2 MB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{} bytes", count(bytes)),
        10_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}B", rough(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_as_people_say_them() {
        assert_eq!(
            [0, 999, 1_535, 1_234_567].map(count),
            ["0", "999", "1,535", "1,234,567"]
        );
        assert_eq!([1, 2].map(|n| counted(n, "call")), ["1 call", "2 calls"]);
        assert_eq!(
            [9_999, 10_000, 1_250_000, 45_000_000, 3_100_000_000].map(rough),
            ["9,999", "10 k", "1.2 M", "45 M", "3.1 G"]
        );
        assert_eq!(
            [0, 119, 120, 7_199, 7_200, 7_500, 200_000].map(span),
            [
                "0 s",
                "119 s",
                "2 min",
                "119 min",
                "2 h",
                "2 h 5 min",
                "2 days"
            ]
        );
        assert_eq!([0, 1].map(took), ["under 1 s", "1 s"]);
        assert_eq!(
            [5, 14_000, 1_250_000].map(size),
            ["5 bytes", "14 kB", "1.2 MB"]
        );
    }
}
