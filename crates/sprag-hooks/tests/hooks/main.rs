//! The hooks of agent CLIs, with payloads of the real ones and settings as people write them.

#[cfg(test)]
mod bad_payloads;
#[cfg(test)]
mod install;
#[cfg(test)]
mod loops;
#[cfg(test)]
mod payloads;
#[cfg(test)]
mod replies;
