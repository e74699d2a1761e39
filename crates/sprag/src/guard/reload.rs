//! Hot reload: a changed policy file takes effect, whole or not at all.
//!
//! A policy is small, so it is read and compared, not guessed at by its time stamp. A file that is being
//! written in place can look complete and be half of what was meant: a change is taken only when the
//! file looks the same twice in a row. A wrong one changes nothing. The log tells both, and tells it
//! before the new policy judges its first event.

use std::sync::{Arc, MutexGuard, PoisonError};

use sprag_store::Noted;

use super::active::Policies;
use super::{Guard, GuardError, GuardState};
use crate::atomic;
use crate::policy_file::{PolicyFile, PolicyFileError};

/// What came of looking at the policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reload {
    /// It means what is in force; or there is no file to look at.
    Unchanged,
    /// It changed just now; it is taken when it looks the same the next time.
    Unconfirmed,
    /// Another policy is in force.
    Changed {
        /// The digest of the one before.
        from: String,
        /// The digest of the new one.
        to: String,
    },
    /// It is wrong; the policy before stays.
    Rejected(PolicyFileError),
}

pub(super) type FileContent = Result<Option<String>, PolicyFileError>;

/// The policy file and what was last seen in it.
#[derive(Debug)]
pub(super) struct WatchedFile {
    file: PolicyFile,
    /// What was judged last, right or wrong.
    judged: FileContent,
    /// What was there the last time, where that is something else.
    unconfirmed: Option<FileContent>,
}

impl WatchedFile {
    pub(super) fn new(file: PolicyFile, judged: FileContent) -> Self {
        Self {
            file,
            judged,
            unconfirmed: None,
        }
    }

    pub(super) fn source(&self) -> String {
        self.file.path().display().to_string()
    }

    /// The file, where the policy came from it and not from the defaults.
    pub(super) fn start(&self) -> Option<String> {
        matches!(self.judged, Ok(Some(_))).then(|| self.source())
    }

    /// What is there, where it is new and, unless at once, looks the same twice in a row.
    fn look(&mut self, at_once: bool) -> Result<FileContent, Reload> {
        let seen = self.file.text();
        if seen == self.judged {
            self.unconfirmed = None;
            return Err(Reload::Unchanged);
        }
        // A file that held a policy and is gone is more likely a slip than a wish for the defaults.
        let seen = match seen {
            Ok(None) => Err(PolicyFileError::Missing {
                path: self.file.path().to_owned(),
            }),
            other => other,
        };
        if seen == self.judged {
            return Err(Reload::Unchanged);
        }
        if !at_once && self.unconfirmed.as_ref() != Some(&seen) {
            self.unconfirmed = Some(seen);
            return Err(Reload::Unconfirmed);
        }
        self.unconfirmed = None;
        Ok(seen)
    }
}

impl Guard {
    /// Looks at the policy file and takes a change that looks the same twice in a row. To be called
    /// now and then, or by [`Guard::watch`].
    ///
    /// # Errors
    /// Returns an error if the log can't be written; then the policy before stays, and the next call tries again.
    pub fn reload_if_changed(&self) -> Result<Reload, GuardError> {
        self.inner.reload(false)
    }

    /// Takes the policy file as it is now, for a person who says so.
    ///
    /// # Errors
    /// Returns an error if the log can't be written; then the policy before stays.
    pub fn reload(&self) -> Result<Reload, GuardError> {
        self.inner.reload(true)
    }
}

impl Guard {
    /// Puts `text` into the policy file and takes it at once: all of it, or none. `base` is the digest of
    /// the policy that the change was made from, where that must still be in force.
    ///
    /// # Errors
    /// Returns an error if there is no file, the policy is wrong, another is in force, or something can't be written; then
    /// the policy before stays.
    pub fn replace_policy(
        &self,
        text: &str,
        base: Option<&str>,
        by: &str,
        why: &str,
    ) -> Result<Reload, GuardError> {
        self.inner.replace(text, base, (by, why))
    }

    /// The digest of the policy in force, without a pause.
    #[must_use]
    pub fn policy_digest(&self) -> String {
        self.inner.policies().normal.digest.clone()
    }
}

impl GuardState {
    fn replace(
        &self,
        text: &str,
        base: Option<&str>,
        order: (&str, &str),
    ) -> Result<Reload, GuardError> {
        let watched = self.watched.as_ref().ok_or(GuardError::NoPolicyFile)?;
        let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.policies().normal.digest.clone();
        if base.is_some_and(|base| base != current) {
            return Err(GuardError::PolicyMoved { current });
        }
        let policy = watched.file.parse(Some(text))?;
        let path = watched.file.path();
        atomic::write(path, text).map_err(|source| GuardError::PolicyWrite {
            path: path.to_owned(),
            source,
        })?;
        // From here on the file says it: where the log can't, the next look at the file tries again.
        let came = self.switch(Policies::new(policy), &watched, Some(order))?;
        watched.judged = Ok(Some(text.to_owned()));
        watched.unconfirmed = None;
        Ok(came)
    }

    pub(super) fn reload(&self, at_once: bool) -> Result<Reload, GuardError> {
        let Some(watched) = &self.watched else {
            return Ok(Reload::Unchanged);
        };
        let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = match watched.look(at_once) {
            Ok(seen) => seen,
            Err(nothing) => return Ok(nothing),
        };
        let parsed = match &seen {
            Ok(text) => watched.file.parse(text.as_deref()),
            Err(error) => Err(error.clone()),
        };
        let came = match parsed {
            Ok(policy) => self.switch(Policies::new(policy), &watched, None)?,
            Err(error) => self.reject(error, &watched)?,
        };
        watched.judged = seen;
        Ok(came)
    }

    fn switch(
        &self,
        policies: Policies,
        watched: &MutexGuard<'_, WatchedFile>,
        order: Option<(&str, &str)>,
    ) -> Result<Reload, GuardError> {
        let from = self.policies().normal.digest.clone();
        let to = policies.normal.digest.clone();
        if from == to {
            return Ok(Reload::Unchanged);
        }
        let what = Noted::PolicyChanged {
            from: from.clone(),
            source: Some(watched.source()),
            by: order.map(|(by, _)| by.to_owned()),
            why: order.map(|(_, why)| why.to_owned()),
        };
        self.note_under(&policies, self.clock.now(), what)?;
        let mut held = self
            .policies
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *held = Arc::new(policies);
        Ok(Reload::Changed { from, to })
    }

    fn reject(
        &self,
        error: PolicyFileError,
        watched: &MutexGuard<'_, WatchedFile>,
    ) -> Result<Reload, GuardError> {
        let what = Noted::PolicyRejected {
            why: error.to_string(),
            source: Some(watched.source()),
        };
        self.note(self.clock.now(), what)?;
        Ok(Reload::Rejected(error))
    }
}
