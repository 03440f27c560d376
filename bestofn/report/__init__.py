"""What people and other tools look at: the HTML report, and verdicts in the forms that pipelines read."""
