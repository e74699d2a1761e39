//! Enums whose values are words: written in policies, on the wire and on the command line.

/// An enum with a word for each of its values. The macro `words!` makes one.
pub trait Words: Copy + std::str::FromStr<Err = UnknownWord> + Send + Sync + 'static {
    /// Each word, and what it means.
    const WORDS: &'static [(&'static str, &'static str)];
}

/// A word that none of the values has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} {word:?}; known are {known}")]
pub struct UnknownWord {
    what: &'static str,
    word: String,
    known: String,
}

impl UnknownWord {
    /// `word` is not a word of `T`, whose values are each a `what`.
    #[must_use]
    pub fn new<T: Words>(what: &'static str, word: &str) -> Self {
        let known: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
        Self {
            what,
            word: word.to_owned(),
            known: known.join(", "),
        }
    }
}

/// Defines an enum together with its words: `ALL`, `as_str`, `Display` and `FromStr`. The comments are what help texts
/// say of the values; the name before the enum is what errors call one of them.
#[macro_export]
macro_rules! words {
    (
        $what:literal,
        $(#[$outer:meta])*
        $vis:vis enum $name:ident {
            $($(#[doc = $doc:literal])+ $(#[default $($default:tt)*])? $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$outer])*
        $vis enum $name {
            $($(#[doc = $doc])+ $(#[default $($default)*])? $variant,)+
        }

        impl $name {
            /// Every value.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word for it.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::Words for $name {
            const WORDS: &'static [(&'static str, &'static str)] =
                &[$(($word, ::core::concat!($($doc),+))),+];
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::core::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> ::core::result::Result<Self, $crate::UnknownWord> {
                let mut all = Self::ALL.into_iter();
                let found = all.find(|value| value.as_str() == word);
                found.ok_or_else(|| $crate::UnknownWord::new::<Self>($what, word))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    words! {
        "colour",
        /// A colour.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        enum Colour {
            /// As of blood.
            Red = "red",
            /// As of leaves,
            /// and frogs.
            #[default]
            Green = "green",
        }
    }

    #[test]
    fn a_word_is_written_read_and_explained() {
        assert_eq!("red".parse(), Ok(Colour::Red));
        assert_eq!(Colour::default().to_string(), "green");
        assert_eq!(Colour::WORDS[1], ("green", " As of leaves, and frogs."));
        let unknown = "blue".parse::<Colour>().unwrap_err().to_string();
        assert_eq!(unknown, "there is no colour \"blue\"; known are red, green");
    }
}
