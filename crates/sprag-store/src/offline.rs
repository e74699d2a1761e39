//! What pods decided alone, proved: each pod's own records form a chain of their own in the log.

use std::collections::HashMap;

use crate::codec::{RecordBody, RecordContent, decode_verdict};
use crate::hash::{Hash, chain};
use crate::note::{Noted, Offline};

/// The end of each pod's own chain, as far as the log was read.
#[derive(Debug, Default)]
pub(crate) struct OfflineChains {
    /// None: some records are known to be missing, so the next one is taken as it comes.
    ends: HashMap<String, Option<(u64, Hash)>>,
}

impl OfflineChains {
    /// Checks one note; where it does not fit, the pod and the number of its own record. A log that
    /// `starts_late` may begin in the middle of a chain.
    pub(crate) fn see(&mut self, note: &Noted, starts_late: bool) -> Result<(), (String, u64)> {
        match note {
            Noted::Offline(offline) => {
                let end = self.ends.get(&offline.pod).copied();
                let end = match end {
                    None if starts_late => None,
                    None => Some((0, Hash::GENESIS)),
                    Some(end) => end,
                };
                // A pod that got no answer tells a record again.
                if end.is_some_and(|(number, _)| offline.number <= number) {
                    return Ok(());
                }
                if !fits(offline, end) {
                    return Err((offline.pod.clone(), offline.number));
                }
                let end = Some((offline.number, offline.hash));
                self.ends.insert(offline.pod.clone(), end);
            }
            Noted::OfflineLost { pod, .. } => {
                self.ends.insert(pod.clone(), None);
            }
            _ => {}
        }
        Ok(())
    }
}

fn fits(offline: &Offline, end: Option<(u64, Hash)>) -> bool {
    let Some(body) = unhex(&offline.record) else {
        return false;
    };
    let says = match RecordBody::decode(&body).map(|body| body.content) {
        Ok(RecordContent::Event { verdict, .. }) => decode_verdict(verdict).ok(),
        _ => None,
    };
    let is_told_right = says
        .is_some_and(|verdict| (verdict.decision, verdict.rule) == (offline.verdict, offline.rule));
    let is_next = end.is_none_or(|(number, hash)| {
        offline.number == number.saturating_add(1)
            && offline.hash == chain(&hash, offline.number, &body)
    });
    is_told_right && is_next
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}
