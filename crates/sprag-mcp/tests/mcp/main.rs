//! The proxy with real guards, real servers and real clients.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod chain;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod http;
#[cfg(test)]
mod install;
#[cfg(test)]
mod loop_in_a_catalog;
#[cfg(test)]
mod mutations;
#[cfg(test)]
mod official;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod setting;
#[cfg(test)]
mod volume;
