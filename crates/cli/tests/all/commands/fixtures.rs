//! The tables, keys and jobs that commands of the documents name.

use crate::harness::Folder;

/// Each table of the documents, and the columns that it has there.
const TABLES: [(&str, &str); 22] = [
    ("ours.csv", "email,name,first,last,born,region,spent,id,phone"),
    ("tables/ours.csv", "email"),
    ("2026-12.csv", "email"),
    ("theirs.csv", "mail,segment,score,amount,customer,phone,tel"),
    ("theirs.parquet", "mail,segment,score,amount,customer"),
    ("ours.parquet", "mail,segment,score,amount"),
    ("customers.csv", "email,name"),
    ("clients.parquet", "mail,segment"),
    ("ours-hashed.csv", "email,sha256"),
    ("theirs-hashed.csv", "sha256"),
    ("test-a.csv", "email"),
    ("test-b.parquet", "mail"),
    ("sales.csv", "customer,amount"),
    ("members.csv", "id,region"),
    ("crm.csv", "mail,amount,segment,score,tel"),
    ("crm.parquet", "mail,segment,score"),
    ("deny.csv", "url,category"),
    ("deny.csv.new", "url,category"),
    ("deny.parquet", "url,category"),
    ("seen.csv", "url"),
    ("accounts.csv", "number"),
    ("asked.csv", "number"),
];
/// Rows of a table: the keys of all of them are the same, so that every threshold of the documents is met.
const ROWS: usize = 40;

fn cell(column: &str, row: usize) -> String {
    match column {
        "segment" | "region" | "category" => ["north", "south"][row % 2].into(),
        "spent" | "amount" | "score" => format!("{row}"),
        "number" => format!("{}", 1_000_000 + row),
        "born" => format!("{:02}.01.1990", row % 28 + 1),
        "first" | "last" | "name" => format!("{column}{row}"),
        "phone" | "tel" => format!("+4930{}", 1_234_500 + row),
        "url" => format!("http://{row}.example"),
        _ => format!("person{row}@example.org"),
    }
}

fn table(columns: &str) -> String {
    let row = |row| columns.split(',').map(|column| cell(column, row)).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..ROWS).map(row).collect();
    format!("{columns}\n{}\n", rows.join("\n"))
}

/// Makes the file `name` in the folder, if the documents know such a file and it is not there yet.
pub fn make(folder: &Folder, name: &str, page: &str) {
    if folder.path(name).exists() {
        if name == "job.toml" {
            make_files_of_the_job(folder);
        }
        return;
    }
    if let Some((_, columns)) = TABLES.iter().find(|(table, _)| *table == name) {
        if let Some(parent) = folder.path(name).parent() {
            std::fs::create_dir_all(parent).expect("a folder");
        }
        if !name.ends_with(".parquet") {
            return folder.write(name, table(columns));
        }
        // Vesica itself makes the Parquet file: the result of a join of a table with itself.
        folder.write("as.csv", table(columns));
        let key = columns.split(',').next().unwrap_or_default();
        let common = format!("--input as.csv --key {key}");
        let (received, _) = folder.join(&format!("{common} --output {name}"), &common);
        return received.expect(0, &[]);
    }
    if let Some(stem) = name.strip_suffix(".key").or(name.strip_suffix(".pub")) {
        if !stem.is_empty() {
            folder.run(&format!("identity new --out {stem}.key")).expect(0, &[]);
        }
    } else if name == "clients.txt" {
        let line = |name: &str| {
            make(folder, name, page);
            folder.read(name)
        };
        folder.write(name, ["client.pub", "us.pub", "them.pub"].map(line).concat());
    } else if name == "run.json" {
        let (receive, send) = ("--input ours.csv --key email --output run.csv --receipt run.json", "--input ours.csv");
        make(folder, "ours.csv", page);
        folder.join(receive, &format!("{send} --key email")).0.expect(0, &[]);
        // The sender of the walkthrough is called Boris.
        folder.write("boris.pub", folder.read("them.pub"));
    } else if name == "job.toml" {
        let jobs = super::fenced(page);
        let job = jobs.into_iter().find(|(tag, text)| *tag == "toml" && text.contains("[receiver]"));
        let job = job.map_or_else(|| folder.run("init").stdout, |(_, job)| job);
        folder.write(name, &job);
        make_files_of_the_job(folder);
    } else if name == "peers.toml" {
        // The page has the files of both sides; here they are one.
        let files = super::fenced(page).into_iter().filter(|(tag, text)| *tag == "toml" && text.contains("tasks = ["));
        folder.write(name, files.map(|(_, text)| text).collect::<String>());
        ["us.pub", "them.pub"].iter().for_each(|key| make(folder, key, page));
    } else if name == "acme-policy.toml" {
        folder.write(name, "tasks = [\"sum\"]\n");
    } else if name == "budget.json" {
        let shown = folder.run("identity show --peer us.pub").stdout;
        let budget = super::fenced(page).into_iter().find(|(tag, _)| *tag == "json").expect("a budget").1;
        let fingerprint = shown.lines().find_map(|line| line.strip_prefix("fingerprint:")).expect("a fingerprint");
        folder.write(name, budget.replace("FINGERPRINT", fingerprint.trim()));
    } else if name == "acme" {
        // A name of a file of partners.
        std::fs::create_dir_all(folder.path("configuration/vesica")).expect("a folder");
        folder.write(
            "configuration/vesica/peers.toml",
            "[acme]\nkey = \"acme.pub\"\naddress = \"127.0.0.1:7400\"\ntasks = [\"intersect\", \"sum\", \"query\"]\n",
        );
        make(folder, "configuration/vesica/acme.pub", page);
    }
}

fn make_files_of_the_job(folder: &Folder) {
    let job = folder.read("job.toml");
    let names = job.split(|letter: char| letter.is_whitespace() || letter == '"');
    names.filter(|name| *name != "job.toml").for_each(|name| make(folder, name, ""));
}
