//! Traces of Facebook's Hadoop clusters, as published by the SWIM project: tab-separated job number, submission and
//! gap in seconds, input, shuffle and output in bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{read_error, set_load, Job, Row, Workload, WorkloadError};

/// `FB-2009_samples_24_times_1hr_0.tsv`: a day of a 600-node cluster, 2009.
pub const FB_2009: &str = include_str!("../../data/swim/FB-2009_samples_24_times_1hr_0.tsv");
/// `FB-2010_samples_24_times_1hr_0.tsv`: a day of a 3000-node cluster, 2010; the thesis' Facebook trace.
pub const FB_2010: &str = include_str!("../../data/swim/FB-2010_samples_24_times_1hr_0.tsv");

/// A MapReduce job of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwimJob {
    /// Seconds from the start of the trace to its submission.
    pub submit_s: f64,
    /// Bytes its map tasks read.
    pub input_bytes: f64,
    /// Bytes its map tasks hand to its reduce tasks; 0 for a job without reduces.
    pub shuffle_bytes: f64,
    /// Bytes it writes.
    pub output_bytes: f64,
}

impl SwimJob {
    /// Bytes handled: the thesis' job size (§3.3.2).
    pub fn total_bytes(&self) -> f64 {
        self.input_bytes + self.shuffle_bytes + self.output_bytes
    }
}

/// Reads a trace from a file.
pub fn read(path: &Path) -> Result<Vec<SwimJob>, WorkloadError> {
    let file = File::open(path).map_err(|source| WorkloadError::Read { path: path.to_owned(), source })?;
    parse(file, path)
}

/// Reads a trace; `path` is what messages call the source.
pub fn parse(source: impl Read, path: &Path) -> Result<Vec<SwimJob>, WorkloadError> {
    const COLUMNS: usize = 6;
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(b'\t').quoting(false).from_reader(source);
    let mut fields = csv::ByteRecord::new();
    let mut jobs: Vec<SwimJob> = Vec::new();
    while reader.read_byte_record(&mut fields).map_err(|error| read_error(path, error))? {
        let row = Row { path, line: fields.position().map_or(0, csv::Position::line), fields: &fields };
        if fields.len() != COLUMNS {
            let expected = format!("{COLUMNS} (job, submit, gap, input, shuffle, output), separated by tabs,");
            return Err(WorkloadError::Columns {
                path: path.to_owned(),
                line: row.line,
                found: fields.len(),
                expected,
            });
        }
        let job = SwimJob {
            submit_s: row.number(1, "submit")?,
            input_bytes: row.number(3, "input")?,
            shuffle_bytes: row.number(4, "shuffle")?,
            output_bytes: row.number(5, "output")?,
        };
        row.not_before(1, "submit", job.submit_s, jobs.last().map_or(0.0, |job| job.submit_s))?;
        jobs.push(job);
    }
    if jobs.is_empty() {
        return Err(WorkloadError::Empty { path: path.to_owned() });
    }
    Ok(jobs)
}

/// The trace on one server whose speed in bytes per second makes the offered load `load`.
pub fn single_server(jobs: &[SwimJob], load: f64) -> Workload {
    let mut workload: Workload = jobs.iter().map(|job| Job::exact(job.submit_s, job.total_bytes())).collect();
    set_load(&mut workload, load);
    workload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facebook_trace_of_2010_is_the_one_the_thesis_describes() {
        // "Mean size 76.1 GiB, largest 85.2 TiB" are decimal units; 24,443 jobs are 24,442 rows (GAP-09).
        let jobs = parse(FB_2010.as_bytes(), Path::new("FB-2010")).unwrap();
        let bytes: Vec<f64> = jobs.iter().map(SwimJob::total_bytes).collect();
        let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
        let max = bytes.iter().copied().fold(0.0, f64::max);
        assert_eq!((jobs.len(), bytes.iter().filter(|size| **size == 0.0).count()), (24_442, 127));
        assert!((mean / 76.10e9 - 1.0).abs() < 1e-3 && (max / 85.21e12 - 1.0).abs() < 1e-3, "{mean} {max}");
        let workload = single_server(&jobs, 0.9);
        let load = workload.iter().map(|job| job.size).sum::<f64>() / jobs[24_441].submit_s;
        assert!((load - 0.9).abs() < 1e-9, "{load}");
    }

    #[test]
    fn the_facebook_trace_of_2009_can_be_read() {
        assert_eq!(parse(FB_2009.as_bytes(), Path::new("FB-2009")).unwrap().len(), 5_894);
    }

    #[test]
    fn a_bad_line_names_file_line_and_column() {
        for (text, message) in [
            (
                "job0\t9\t9\t1762\t0\n",
                "t.tsv:1: 5 columns, where 6 (job, submit, gap, input, shuffle, output), separated by tabs, are needed",
            ),
            (
                "job0\t9\t9\t1\t0\t3\njob1\t10\t1\t1\t-4\t3\n",
                "t.tsv:2: column 5 (shuffle): \"-4\" is not a finite number of at least 0",
            ),
            (
                "job0\t9\t9\t1\t0\t3\njob1\t8\t1\t1\t4\t3\n",
                "t.tsv:2: column 2 (submit): \"8\" is not at or after the arrival above it, 9: sort the file by arrival",
            ),
            ("", "t.tsv: no jobs in it"),
        ] {
            assert_eq!(parse(text.as_bytes(), Path::new("t.tsv")).unwrap_err().to_string(), message);
        }
    }
}
