//! Jobs as comma-separated values: `arrival,size[,estimate][,weight]`, times and sizes in seconds.
//!
//! A header names the columns, in any order; without one they are taken in the order above. `job` and `completion`
//! are ignored, so what [`write_csv`] wrote can be read again. A missing estimate is the size, a missing weight 1.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use super::{read_error, Job, Row, Workload, WorkloadError};

/// A column of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Arrival,
    Size,
    Estimate,
    Weight,
    Ignored,
}

/// Columns of a file without a header.
const POSITIONAL: [Column; 4] = [Column::Arrival, Column::Size, Column::Estimate, Column::Weight];

impl Column {
    fn named(name: &str) -> Option<Column> {
        match name {
            "arrival" => Some(Column::Arrival),
            "size" => Some(Column::Size),
            "estimate" => Some(Column::Estimate),
            "weight" => Some(Column::Weight),
            "job" | "completion" => Some(Column::Ignored),
            _ => None,
        }
    }
}

/// Reads jobs from a file.
pub fn read_csv(path: &Path) -> Result<Workload, WorkloadError> {
    let file = File::open(path).map_err(|source| WorkloadError::Read { path: path.to_owned(), source })?;
    parse(file, path)
}

/// Reads jobs; `path` is what messages call the source.
fn parse(source: impl Read, path: &Path) -> Result<Workload, WorkloadError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(source);
    let mut fields = csv::ByteRecord::new();
    let mut columns: Option<Vec<Column>> = None;
    let mut jobs = Workload::new();
    while reader.read_byte_record(&mut fields).map_err(|error| read_error(path, error))? {
        let row = Row { path, line: fields.position().map_or(0, csv::Position::line), fields: &fields };
        let columns = match &columns {
            Some(columns) => columns,
            None => match header(&row)? {
                Some(header) => {
                    columns = Some(header);
                    continue;
                }
                None => columns.insert(POSITIONAL[..fields.len().clamp(2, POSITIONAL.len())].to_vec()),
            },
        };
        let previous = jobs.last().map_or(0.0, |job: &Job| job.arrival);
        jobs.push(job(&row, columns, previous)?);
    }
    if jobs.is_empty() {
        return Err(WorkloadError::Empty { path: path.to_owned() });
    }
    Ok(jobs)
}

/// The columns a header names; none if the row is no header.
fn header(row: &Row) -> Result<Option<Vec<Column>>, WorkloadError> {
    let names: Vec<String> =
        row.fields.iter().map(|field| String::from_utf8_lossy(field).to_ascii_lowercase()).collect();
    let columns: Vec<Option<Column>> = names.iter().map(|name| Column::named(name)).collect();
    if columns.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut header = Vec::with_capacity(columns.len());
    for (place, column) in columns.into_iter().enumerate() {
        match column {
            Some(column) if column == Column::Ignored || !header.contains(&column) => header.push(column),
            _ => {
                let expected = "one of arrival, size, estimate, weight, job, completion, each once".to_owned();
                return Err(row.refuse(place, "header", expected));
            }
        }
    }
    if !(header.contains(&Column::Arrival) && header.contains(&Column::Size)) {
        return Err(row.refuse(0, "header", "a header with both arrival and size".to_owned()));
    }
    Ok(Some(header))
}

fn job(row: &Row, columns: &[Column], previous: f64) -> Result<Job, WorkloadError> {
    if row.fields.len() != columns.len() {
        let expected = match columns {
            [Column::Arrival, Column::Size] => "2 (arrival,size)".to_owned(),
            _ => format!("{} (as in the first line)", columns.len()),
        };
        let found = row.fields.len();
        return Err(WorkloadError::Columns { path: row.path.to_owned(), line: row.line, found, expected });
    }
    let mut job = Job::exact(0.0, 0.0);
    let mut estimate = None;
    for (place, column) in columns.iter().enumerate() {
        match column {
            Column::Arrival => {
                job.arrival = row.number(place, "arrival")?;
                row.not_before(place, "arrival", job.arrival, previous)?;
            }
            Column::Size => job.size = row.number(place, "size")?,
            Column::Estimate => estimate = Some(row.number(place, "estimate")?),
            Column::Weight => {
                job.weight = row.number(place, "weight")?;
                if job.weight == 0.0 {
                    return Err(row.refuse(place, "weight", "above 0".to_owned()));
                }
            }
            Column::Ignored => {}
        }
    }
    job.estimate = estimate.unwrap_or(job.size);
    Ok(job)
}

/// Writes `job,arrival,size,estimate,completion`, a line per job in order of arrival.
pub fn write_csv(path: &Path, jobs: &[Job], completions: &[f64]) -> Result<(), WorkloadError> {
    let refuse = |source| WorkloadError::Write { path: path.to_owned(), source };
    let mut out = BufWriter::new(File::create(path).map_err(refuse)?);
    let mut write = || -> io::Result<()> {
        writeln!(out, "job,arrival,size,estimate,completion")?;
        for (number, (job, completion)) in jobs.iter().zip(completions).enumerate() {
            writeln!(out, "{number},{},{},{},{completion}", job.arrival, job.size, job.estimate)?;
        }
        out.flush()
    };
    write().map_err(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Workload, String> {
        parse(text.as_bytes(), Path::new("jobs.csv")).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_named_by_a_header_or_by_their_place() {
        let jobs = vec![
            Job { arrival: 0.0, size: 4.0, estimate: 5.0, weight: 2.0 },
            Job { arrival: 1.5, size: 0.0, estimate: 1.0, weight: 1.0 },
        ];
        assert_eq!(read("0,4,5,2\n1.5,0,1,1\n").unwrap(), jobs);
        assert_eq!(read("weight,Size,arrival,estimate\n2, 4, 0, 5\n1, 0, 1.5, 1").unwrap(), jobs);
        assert_eq!(read("# a comment\r\n\r\n0,4\r\n").unwrap(), [Job::exact(0.0, 4.0)]);
        let with_completion = read("job,arrival,size,estimate,completion\n0,0,4,5,4\n").unwrap();
        assert_eq!(with_completion, [Job { weight: 1.0, ..jobs[0] }]);
    }

    #[test]
    fn a_bad_value_names_file_line_and_column() {
        for (text, message) in [
            ("arrival,size\n0,1\n1,x\n", "jobs.csv:3: column 2 (size): \"x\" is not a finite number of at least 0"),
            ("0,1\n1,NaN\n", "jobs.csv:2: column 2 (size): \"NaN\" is not a finite number of at least 0"),
            ("0,-1\n", "jobs.csv:1: column 2 (size): \"-1\" is not a finite number of at least 0"),
            ("inf,1\n", "jobs.csv:1: column 1 (arrival): \"inf\" is not a finite number of at least 0"),
            ("0,1,nan\n", "jobs.csv:1: column 3 (estimate): \"nan\" is not a finite number of at least 0"),
            ("0,1,1,0\n", "jobs.csv:1: column 4 (weight): \"0\" is not above 0"),
            ("0,\n", "jobs.csv:1: column 2 (size): \"\" is not a finite number of at least 0"),
            (
                "\n2,1\n1,1\n",
                "jobs.csv:3: column 1 (arrival): \"1\" is not at or after the arrival above it, 2: \
                 sort the file by arrival",
            ),
            ("0,1\n1\n", "jobs.csv:2: 1 columns, where 2 (arrival,size) are needed"),
            ("0\n", "jobs.csv:1: 1 columns, where 2 (arrival,size) are needed"),
            ("0,1,1\n0,1,1,1\n", "jobs.csv:2: 4 columns, where 3 (as in the first line) are needed"),
            (
                "arrival,siez\n0,1\n",
                "jobs.csv:1: column 2 (header): \"siez\" is not one of arrival, size, estimate, weight, job, \
                 completion, each once",
            ),
            (
                "arrival,estimate\n0,1\n",
                "jobs.csv:1: column 1 (header): \"arrival\" is not a header with both arrival and size",
            ),
            ("", "jobs.csv: no jobs in it"),
            ("arrival,size\n", "jobs.csv: no jobs in it"),
        ] {
            assert_eq!(read(text).unwrap_err(), message, "{text:?}");
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_not_a_panic() {
        let message = parse(&b"0,\xff\xfe\n"[..], Path::new("j")).unwrap_err().to_string();
        assert!(message.starts_with("j:1: column 2 (size)"), "{message}");
    }
}
