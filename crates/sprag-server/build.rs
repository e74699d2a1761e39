//! Builds the dashboard into the target folder, and lists its files for `dashboard.rs` to include.
//!
//! It needs Node, which not everybody who builds Sprag has, and it takes seconds, which nobody who only
//! checks the code wants to wait for. So it is left out where `SPRAG_SKIP_WEB` is set, on docs.rs, and where
//! Node or the sources are missing; a plain page then says so. The sources are never written to, apart
//! from `node_modules`, which is installed anew only when the lock file changed.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What the build reads. A change of anything else in `web/` (its tests, its packages) builds nothing.
const SOURCES: [&str; 8] = [
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "svelte.config.js",
    "tsconfig.json",
    "vite.config.ts",
];

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script where things are by its environment"
)]
fn main() -> Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let web = here.join("../../web");
    println!("cargo::rerun-if-env-changed=SPRAG_SKIP_WEB");
    for source in SOURCES.iter().filter(|source| web.join(source).exists()) {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    let built = out.join("web");
    // A published crate holds the dashboard ready-made.
    let shipped = here.join("dashboard");
    let (folder, missing) = match reason_to_skip(&web) {
        Some(_) if shipped.is_dir() => (Some(shipped.as_path()), String::new()),
        Some(reason) => (None, reason),
        None => match install(&web) {
            Ok(()) => (Some(build(&web, &built)?), String::new()),
            Err(error) => (None, format!("its packages can't be installed: {error}")),
        },
    };
    if folder.is_none() {
        println!("cargo::warning=the dashboard is not built in: {missing}");
    }
    let list = match folder {
        Some(folder) => list(folder)?,
        None => String::from("&[]"),
    };
    let text = format!(
        "pub(super) static FILES: &[Asset] = {list};\npub(super) const MISSING: &str = {missing:?};\n"
    );
    fs::write(out.join("dashboard_files.rs"), text)?;
    Ok(())
}

fn reason_to_skip(web: &Path) -> Option<String> {
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    if set("SPRAG_SKIP_WEB") {
        return Some("SPRAG_SKIP_WEB is set".to_owned());
    }
    if set("DOCS_RS") {
        return Some("documentation needs none".to_owned());
    }
    if !web.join("package-lock.json").exists() {
        return Some("its sources are not here".to_owned());
    }
    let found = |program: &str| Command::new(program).arg("--version").output().is_ok();
    (!found("node") || !found("npm")).then(|| "Node and npm are not installed".to_owned())
}

/// Installs the packages, where the lock file is not the one that they were installed from.
fn install(web: &Path) -> Result<()> {
    let lock = fs::read(web.join("package-lock.json"))?;
    let stamp = web.join("node_modules/.installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    run("npm", web, ["ci", "--no-audit", "--no-fund"])?;
    fs::write(stamp, lock)?;
    Ok(())
}

fn build<'a>(web: &Path, built: &'a Path) -> Result<&'a Path> {
    let vite = OsStr::new("node_modules/vite/bin/vite.js");
    let arguments = ["build", "--logLevel", "warn", "--outDir"].map(OsStr::new);
    let arguments = [vite]
        .into_iter()
        .chain(arguments)
        .chain([built.as_os_str()]);
    run("node", web, arguments)?;
    Ok(built)
}

fn run(
    program: &str,
    folder: &Path,
    arguments: impl IntoIterator<Item: AsRef<OsStr>>,
) -> Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    // A warning of cargo is one line.
    let said =
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).replace('\n', "; ");
    Err(format!("{program} failed: {said}").into())
}

/// The files as Rust: each with its compressed twins where it has any.
fn list(folder: &Path) -> Result<String> {
    let mut text = String::from("&[\n");
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    files.sort();
    for file in &files {
        let name = file
            .strip_prefix(folder)?
            .to_string_lossy()
            .replace('\\', "/");
        if name.ends_with(".gz") || name.ends_with(".br") {
            continue;
        }
        let twin = |extension: &str| {
            let path = PathBuf::from(format!("{}.{extension}", file.display()));
            path.exists().then_some(path)
        };
        let bytes = |path: &Path| format!("include_bytes!({:?})", path.display().to_string());
        let maybe = |path: Option<PathBuf>| match path {
            Some(path) => format!("Some({})", bytes(&path)),
            None => "None".to_owned(),
        };
        let (plain, gzip, brotli) = (bytes(file), maybe(twin("gz")), maybe(twin("br")));
        writeln!(
            text,
            "    Asset {{ name: {name:?}, plain: {plain}, gzip: {gzip}, brotli: {brotli} }},"
        )?;
    }
    text.push(']');
    Ok(text)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
