"""Names of the files and folders that a plan is written to."""

__all__ = ["PLAN_FILES", "RUNS_FOLDER", "SONIC_FILES", "SWITCH_FILES"]

#: The document and the page of a plan.
PLAN_FILES = ("plan.json", "index.html")
#: Finished runs, each under its key.
RUNS_FOLDER = "runs"
#: SONiC's files, and with them those of other makers' switches.
SONIC_FILES = ("config_db.json", "pg_profile_lookup.ini")
SWITCH_FILES = (*SONIC_FILES, "nx-os.txt", "nvue.txt", "junos.txt")
