//! The stores against each other, against the engine and against the world.

#[cfg(feature = "redis")]
#[cfg(test)]
mod clock;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod loading;
#[cfg(test)]
mod loss;
#[cfg(test)]
mod marks;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod model;
#[cfg(test)]
mod observations;
#[cfg(test)]
mod place;
#[cfg(test)]
mod processes;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis_faults;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis_load;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis_outage;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis_places;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis_pods;
#[cfg(feature = "redis")]
#[cfg(test)]
mod redis_server;
#[cfg(test)]
mod short_histories;
#[cfg(test)]
mod sqlite;
#[cfg(test)]
mod strange_files;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod tamper;
#[cfg(unix)]
#[cfg(test)]
mod trouble;
