//! Pruning the log in Redis.
//!
//! The cells as the pruned records left them become the new base of the log. So what is left can still
//! be verified: base plus records give the present cells.

use redis::{Pipeline, cmd};
use sprag_core::{CellKey, CellMap, Millis, Timestamp};

use super::cell_value::reads_as_new_after;
use super::commit::hash_text;
use super::redis_pod::{RedisPod, SharedError};
use super::redis_view::RedisView;
use super::script::{LuaScript, ScriptInput};
use crate::capacity::after_eviction;
use crate::encoded_record::ChainHead;
use crate::error::StoreError;
use crate::note::Noted;
use crate::pack::Packed;
use crate::prune::{Prune, Pruned, cut, fold_through};
use crate::view::LogView as _;

/// Cells written at once.
const CHUNK: usize = 500;

/// Removes the records that are too old or too many, by `prune` and by this pod's options.
pub(super) fn prune(pod: &RedisPod, prune: &Prune<'_>) -> Result<Pruned, StoreError> {
    let (first, last) = pod.read(|reader| Ok(reader.bounds()?))?;
    let length = last.saturating_sub(first).saturating_add(1);
    let view = RedisView::open(pod)?;
    let mut through = 0;
    // By number: cut below the limit, so that not every record starts the next pruning.
    if length > pod.options.max_records {
        let keep = usize::try_from(pod.options.max_records).map_or(usize::MAX, after_eviction);
        through = last.saturating_sub(u64::try_from(keep).unwrap_or(u64::MAX));
    }
    // By age and size.
    if is_due(pod, prune, first)? {
        through = through.max(cut(&view, &prune.retention, prune.at)?);
    }
    if through == 0 {
        return Ok(Pruned::default());
    }
    let from = view.base()?.after;
    if through <= from {
        return Ok(Pruned::default());
    }
    // The base is computed from the log, not copied from the cells: those have gone on.
    let (head, fold) = fold_through(&view, through, prune.policies)?;
    let Some(cells) = fold.cells() else {
        return Ok(Pruned::default());
    };
    let cut_at = pod.read(|reader| Ok(reader.range(through, through, 1)?))?;
    let cut_at = cut_at
        .first()
        .and_then(|row| row.raw().read(head.hash).ok());
    let at = cut_at.map_or(Timestamp::default(), |record| record.at);
    if !replace(pod, from, head, cells, at)? {
        return Ok(Pruned::default());
    }
    let records = through - from;
    let what = Noted::Pruned { through, records };
    let until = super::monotonic::now() + std::time::Duration::from_secs(5);
    pod.read(|reader| pod.note_on(reader.connection, prune.at, &prune.policy, what, until))?;
    Ok(Pruned { through, records })
}

/// Whether the oldest record is too old or the log too large. Only then is the whole log read.
fn is_due(pod: &RedisPod, prune: &Prune<'_>, first: u64) -> Result<bool, StoreError> {
    let bytes: Option<u64> = pod.read(|reader| {
        Ok(cmd("HGET")
            .arg(&pod.keys.head)
            .arg("bytes")
            .query(reader.connection)?)
    })?;
    if bytes.unwrap_or(0) > prune.retention.max_bytes {
        return Ok(true);
    }
    let oldest = pod.read(|reader| Ok(reader.range(first, first, 1)?))?;
    let oldest = oldest.first().map(|row| row.raw().read(Default::default()));
    let oldest = oldest.transpose()?;
    Ok(oldest.is_some_and(|oldest| prune.at.since(oldest.at) > prune.retention.max_age))
}

/// Writes the new base beside the old one. `prune.lua` then swaps them and cuts the log in one step.
/// Returns false if another pod has pruned meanwhile.
fn replace(
    pod: &RedisPod,
    from: u64,
    head: ChainHead,
    cells: &CellMap,
    at: Timestamp,
) -> Result<bool, StoreError> {
    // Under a key of this pod's own, so that two pods can prepare a base at once.
    let fresh = format!("{}:{}", pod.keys.base, pod.options.pod);
    pod.read(|reader| {
        cmd("DEL").arg(&fresh).exec(reader.connection)?;
        cmd("HSET")
            .arg(&fresh)
            .arg(&[
                ("after", head.seq.to_string()),
                ("hash", hash_text(&head.hash)),
            ])
            .exec(reader.connection)?;
        let keys = cells.keys();
        for keys in keys.chunks(CHUNK) {
            let mut pipe = Pipeline::new();
            for key in keys.iter().filter(|key| !reads_as_new(key, cells, at)) {
                if let Some(packed) = Packed::of(cells, key) {
                    let field = format!("{}:{}", key.kind(), key.name());
                    pipe.hset(&fresh, field, packed.bytes).ignore();
                }
            }
            pipe.exec(reader.connection)?;
        }
        let mut input = ScriptInput {
            keys: vec![
                pod.keys.base.clone(),
                fresh.clone(),
                pod.keys.log.clone(),
                pod.keys.notes.clone(),
                pod.keys.head.clone(),
            ],
            args: Vec::new(),
        };
        input.number(from);
        input.number(head.seq);
        let script = LuaScript::new(include_str!("prune.lua"));
        let swapped: i64 = redis::from_redis_value(script.run(reader.connection, &input)?)
            .map_err(|_| SharedError::Redis(super::reply::unexpected_reply()))?;
        Ok(swapped == 1)
    })
}

/// Whether a cell already read as new at `at`, the time of the last pruned record. Then it reads as new
/// ever after, and the base need not hold it.
fn reads_as_new(key: &CellKey, cells: &CellMap, at: Timestamp) -> bool {
    let is_forgettable = match key {
        CellKey::Session(id) => cells
            .session(id.as_str())
            .is_some_and(sprag_core::SessionCell::is_forgettable),
        _ => true,
    };
    let touched = cells.touched(key).unwrap_or_default();
    // An hour to spare, in case the clock goes back.
    let enough = |life: Millis| at.since(touched).0 >= life.0.saturating_add(Millis::HOUR.0);
    is_forgettable && reads_as_new_after(key).is_some_and(enough)
}
