//! The proxy with real guards, real servers and real clients.

#[cfg(test)]
mod asking;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod catalog_loop;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod gate_fixture;
#[cfg(test)]
mod http;
#[cfg(test)]
mod install;
#[cfg(test)]
mod load;
#[cfg(test)]
mod official_clients;
#[cfg(test)]
mod results;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod wrapper_process;
