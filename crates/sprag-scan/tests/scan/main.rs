//! Transcripts of the real clients, and of none, as a scan meets them.

#[cfg(test)]
mod broken;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod guarded;
#[cfg(test)]
mod huge;
#[cfg(test)]
mod page;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod sweeping;
#[cfg(test)]
mod untouched;
#[cfg(test)]
mod wrong_stops;
