//! Programs that destroy something, one file a family.

mod backup;
mod bucket;
mod cloud;
mod container;
mod database;
mod disk;
mod file;
mod fleet;
mod git;
mod graph;
mod hoster;
mod http;
mod infrastructure;
mod interpreter;
mod key_value;
mod kubernetes;
mod lisp;
mod migration;
mod noun;
mod orm;
mod powershell;
mod sdk;
mod system;
mod transfer;
mod unlisted;
mod version;

pub(crate) use container::is_fresh_container;
pub(crate) use disk::{format, is_disk};
pub(crate) use powershell::script as powershell;
use sprag_core::{Effect, Reach, Verb};

use crate::args::Args;
use crate::walk::Walker;

/// Notes what `args` destroys.
pub(crate) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    match args.program {
        "rm" | "grm" | "srm" | "unlink" | "rmdir" | "shred" | "truncate" | "rsync" | "rclone"
        | "rimraf" | "del-cli" | "tar" => {
            file::run(walker, args);
        }
        "find" | "gfind" => crate::find::run(walker, args),
        "fd" | "fdfind" => file::fd(walker, args),
        "dd" | "wipefs" | "blkdiscard" | "sgdisk" | "parted" | "diskutil" | "hdparm"
        | "cryptsetup" | "zpool" | "zfs" | "lvremove" | "vgremove" | "pvremove" | "btrfs"
        | "mdadm" | "nvme" | "tee" | "cp" | "fdisk" | "sfdisk" | "gdisk" => disk::run(walker, args),
        name if name.starts_with("mkfs") || name == "mkswap" => disk::run(walker, args),
        "git" => git::run(walker, args),
        "hg" | "svn" => version::run(walker, args),
        "sftp" | "lftp" | "ftp" => transfer::run(walker, args),
        "ansible" | "salt" | "salt-call" | "salt-ssh" | "pssh" | "parallel-ssh" | "pdsh"
        | "clush" | "tsh" => fleet::run(walker, args),
        "crontab" | "userdel" | "deluser" | "virsh" => system::run(walker, args),
        "psql" | "pgcli" | "mysql" | "mariadb" | "mysqladmin" | "sqlite3" | "sqlite"
        | "litecli" | "duckdb" | "mongosh" | "mongo" | "redis-cli" | "valkey-cli" | "dropdb"
        | "dropuser" | "clickhouse-client" | "clickhouse" | "bq" | "cqlsh" | "sqlcmd"
        | "snowsql" | "cockroach" | "pg_restore" | "mongorestore" | "influx" | "usql" | "turso"
        | "etcdctl" | "mycli" | "sqlplus" | "isql" | "tsql" | "db2" | "bteq" | "nzsql"
        | "beeline" | "hive" | "spark-sql" | "impala-shell" | "trino" | "presto" | "vsql"
        | "dolt" | "osql" | "mssql-cli" | "ksql" | "mclient" | "exaplus" | "ysqlsh"
        | "cypher-shell" => database::run(walker, args),
        "kubectl" | "oc" | "k" | "microk8s" | "k3s" => kubernetes::kubectl(walker, args),
        "helm" => kubernetes::helm(walker, args),
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
            container::run(walker, args)
        }
        "curl" | "wget" | "http" | "https" | "xh" | "xhs" => http::run(walker, args),
        "awk" | "gawk" | "mawk" => interpreter::awk(walker, args),
        name if interpreter::is_one(name) => interpreter::script_or_code(walker, args),
        "gradlew" | "mvnw" => {
            let program = args.program.trim_end_matches('w');
            migration::run(walker, &Args { program, ..*args });
        }
        "emacs" | "emacsclient" => lisp::run(walker, args),
        "pwsh" | "powershell" | "cmd" => powershell::run(walker, args),
        "wal-g" | "wal-e" | "pgbackrest" | "barman" | "duplicity" | "kopia" | "tmutil"
        | "timeshift" | "snapper" | "rdiff-backup" => backup::run(walker, args),
        "nc" | "ncat" | "netcat" | "telnet" => key_value::memcached(walker),
        "kubeadm"
        | "helmfile"
        | "zappa"
        | "ddev"
        | "lando"
        | "npm"
        | "kafka-delete-records"
        | "kafka-delete-records.sh" => infrastructure::whole(walker, args),
        name if migration::is_one(name) => migration::run(walker, args),
        _ => cloud::run(walker, args),
    }
}

/// Notes an effect that is not about a path.
pub(super) fn add(walker: &mut Walker<'_>, verb: Verb, reach: Reach, by: &str, target: &str) {
    walker.effect(Effect {
        verb,
        reach,
        vital: false,
        replaceable: false,
        by: by.into(),
        target: target.into(),
    });
}

/// Notes an effect on something that can be replaced.
pub(super) fn add_replaceable(
    walker: &mut Walker<'_>,
    verb: Verb,
    reach: Reach,
    by: &str,
    target: &str,
) {
    walker.effect(Effect {
        verb,
        reach,
        vital: false,
        replaceable: true,
        by: by.into(),
        target: target.into(),
    });
}

/// Whether a variable set for this command says that it works on tests.
pub(super) fn is_test_environment(walker: &Walker<'_>) -> bool {
    #[rustfmt::skip]
  const NAMES: [&str; 26] = [
      "RAILS_ENV", "RACK_ENV", "NODE_ENV", "APP_ENV", "MIX_ENV", "DJANGO_SETTINGS_MODULE",
      "FLASK_ENV", "ENV", "ENVIRONMENT", "DATABASE_URL", "DB_URL", "POSTGRES_URL", "DATABASE",
      "DB_NAME", "PGDATABASE", "DB_DATABASE", "TEST_DATABASE_URL", "DIRECT_URL", "DATABASE_NAME",
      "GOOSE_DBSTRING", "MONGODB_URI", "MYSQL_DATABASE", "POSTGRES_DB", "KUBECONFIG", "DB_PATH",
      "SQLITE_PATH",
  ];
    walker.environment.known().any(|(name, value)| {
        NAMES.contains(&name) && (names_test(value) || value.contains(":memory:"))
    })
}

/// Whether the last part of a URL or path is a name for tests.
pub(super) fn names_test(value: &str) -> bool {
    let value = value.split(['?', '#']).next().unwrap_or(value);
    let last = value
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(value);
    crate::scratch::is_test_name(last) || value.starts_with("sqlite:") && value.contains("/tmp/")
}

/// `reach`, or scratch if `name` is one for tests.
pub(super) fn unless_test(name: &str, reach: Reach) -> Reach {
    if crate::scratch::is_test_name(name) {
        Reach::Scratch
    } else {
        reach
    }
}
