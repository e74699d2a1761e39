//! A second opinion on the semantics: a naive engine that keeps everything and recomputes.
//!
//! It is written from the documentation alone and for clarity: no cells, no counters, no bounds it
//! does not need; every question is answered by reading the history again. It passes the vectors by
//! itself, and the engine is held against it on random histories that make every rule fire.

#[cfg(test)]
mod model {
    mod budgets;
    mod calls;
    mod chain;
    mod defiance;
    mod destructive;
    mod digester;
    mod findings;
    mod history;
    mod judge;
    mod messages;
    mod pair;
    mod policy;
    mod record;
    mod steps;
    mod talk;
    mod vectors;
}
