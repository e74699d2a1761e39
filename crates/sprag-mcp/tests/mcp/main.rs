//! The proxy with real guards, real servers and real clients.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod setting;
