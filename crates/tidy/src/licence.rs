//! Licence expressions (`MIT OR Apache-2.0`) against a list of licences that are allowed.
//!
//! Small on purpose: `AND` binds tighter than `OR`, brackets group, `/` is an old way to write `OR`,
//! and `A WITH B` is one name. What does not parse is not allowed.

/// Whether the expression can be met with allowed licences alone.
pub(crate) fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut parser = Parser {
        words: spaced.split_whitespace().peekable(),
        allowed,
    };
    let answer = parser.any();
    parser.words.next().is_none() && answer.unwrap_or(false)
}

struct Parser<'a, I: Iterator<Item = &'a str>> {
    words: std::iter::Peekable<I>,
    allowed: &'a [String],
}

impl<'a, I: Iterator<Item = &'a str>> Parser<'a, I> {
    fn any(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.words.next_if_eq(&"OR").is_some() {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.words.next_if_eq(&"AND").is_some() {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        match self.words.next()? {
            "(" => {
                let met = self.any()?;
                self.words.next_if_eq(&")").map(|_| met)
            }
            ")" | "AND" | "OR" | "WITH" => None,
            name => {
                let name = match self.words.next_if_eq(&"WITH") {
                    Some(_) => format!("{name} WITH {}", self.words.next()?),
                    None => name.to_owned(),
                };
                Some(self.allowed.contains(&name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_mit_and_unicode(expression: &str) -> bool {
        let allowed = ["MIT", "Unicode-3.0", "A WITH B"].map(ToOwned::to_owned);
        is_allowed(expression, &allowed)
    }

    #[test]
    fn a_choice_needs_one_and_a_sum_needs_all() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "GPL-3.0 AND X OR MIT",
            "A WITH B",
        ] {
            assert!(with_mit_and_unicode(good), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0)", "A", "MIT WITH B"] {
            assert!(!with_mit_and_unicode(bad), "{bad}");
        }
    }

    #[test]
    fn what_does_not_parse_is_not_allowed() {
        for bad in [
            "", "MIT MIT", "(MIT", "MIT)", "MIT OR", "OR MIT", "A WITH", "()",
        ] {
            assert!(!with_mit_and_unicode(bad), "{bad}");
        }
    }
}
