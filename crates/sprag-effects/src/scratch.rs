//! Names of places whose content can be made again: build outputs, caches, temporary files; and names of
//! databases and contexts that exist for tests.

/// Folders of build outputs, caches and temporary files.
#[rustfmt::skip]
const NAMES: [&str; 79] = [
    "node_modules", "target", "dist", "build", "out", ".venv", "venv", "__pycache__", ".cache",
    "cache", "caches", "Caches", ".next", ".nuxt", ".output", ".svelte-kit", ".turbo",
    ".parcel-cache", ".gradle", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".eggs", "coverage", "htmlcov", ".nyc_output", "tmp", "temp", ".tmp", ".temp", "_build",
    "DerivedData", "bower_components", ".terraform", "obj", ".vite", ".angular", ".expo",
    ".vercel", ".serverless", ".aws-sam", "cdk.out", "storybook-static", ".docusaurus",
    ".ipynb_checkpoints", "test-results", "playwright-report", ".hypothesis", ".stack-work",
    "dist-newstyle", "elm-stuff", "zig-cache", ".zig-cache", "zig-out", "_site", ".jekyll-cache",
    ".sass-cache", ".webpack", ".swc", ".eslintcache", ".stylelintcache", ".coverage",
    ".DS_Store", "Thumbs.db", ".npm", ".pnpm-store", ".nuget", ".dart_tool", "deps_cache",
    ".bundle-cache", ".wrangler", ".astro", ".playwright", "__snapshots_tmp__", ".pytype",
    ".build", "Pods",
];

/// Beginnings of such names.
#[rustfmt::skip]
const PREFIXES: [&str; 9] = [
    "build-", "build_", "cmake-build", "tmp.", "tmp-", "tmp_", "temp-", "temp_", "dist-",
];

/// Endings of files that a build or an editor makes, and of caches.
#[rustfmt::skip]
const SUFFIXES: [&str; 17] = [
    ".pyc", ".pyo", ".o", ".obj", ".class", ".tmp", ".temp", ".swp", ".swo", ".egg-info",
    ".tsbuildinfo", ".gch", ".rlib", ".rmeta", ".pid", "_cache", "-cache",
];

/// Whether one of `parts` is a scratch place, so that everything below it is too.
pub(crate) fn is_scratch(parts: &[&str]) -> bool {
    parts.iter().any(|part| is_scratch_name(part))
        || matches!(
            parts,
            [.., ".m2", "repository"] | [".cargo", "registry", ..]
        )
}

fn is_scratch_name(part: &str) -> bool {
    let part = part.trim_end_matches('*');
    NAMES.contains(&part)
        || PREFIXES.iter().any(|prefix| part.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| part.ends_with(suffix))
}

/// Whether a database, a context, a project or an environment is one for tests: it is named with the word.
pub(crate) fn is_test_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if name.starts_with("kind-") || name == "kind" || name.contains(":memory:") {
        return true;
    }
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        matches!(
            word,
            "test"
                | "tests"
                | "testing"
                | "tmp"
                | "temp"
                | "minikube"
                | "scratch"
                | "throwaway"
                | "e2e"
                | "sandbox"
                | "k3d"
                | "testdb"
        )
    }) || name == "docker-desktop"
        || name == "rancher-desktop"
}
