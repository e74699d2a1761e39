//! A second opinion on the semantics: a naive engine that keeps everything and recomputes.
//!
//! It is written from the documentation alone and for clarity: no cells, no counters, no bounds it
//! does not need; every question is answered by reading the history again. It passes the vectors by
//! itself, and the engine is held against it on random histories that make every rule fire.

#[cfg(test)]
mod model {
    mod agreement;
    mod budgets;
    mod calls;
    mod chain;
    mod clock;
    mod collapse;
    mod coverage;
    mod defiance;
    mod destructive;
    mod effects;
    mod engine;
    mod findings;
    mod generated_actions;
    mod generated_messages;
    mod generator;
    mod history;
    mod judge;
    mod ladder;
    mod marks;
    mod messages;
    mod outputs;
    mod pair;
    mod policies;
    mod questions;
    mod real_engine;
    mod record;
    mod reruns;
    mod rng;
    mod rounds;
    mod samples;
    mod seeds;
    mod shrink;
    mod sightings;
    mod starts;
    mod steps;
    mod talk;
    mod vectors;
    mod windows;
}
