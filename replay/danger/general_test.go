package danger

import "testing"

// TestGeneral judges programs that no table names, by what is said to them.
func TestGeneral(t *testing.T) {
	for command, kind := range map[string]string{
		"frob delete thing":                       "remove",
		"frob things rm 7":                        "remove",
		"frob apps:destroy shop":                  "remove",
		"frob --context prod deleteTopic orders":  "remove",
		"frob --purge-cache":                      "remove",
		"frob -deleteUser ann":                    "remove",
		"frob --remove-older-than 7d":             "remove",
		"sudo frob --clean":                       "remove",
		"frob cleanup --yes":                      "system",
		"frob-clean all":                          "remove",
		"frobwipe":                                "remove",
		"Remove-Frob -All":                        "remove",
		"frob-send --action Reboot":               "send",
		"frobctl --action Reboot":                 "power",
		"frob publish":                            "publish",
		"frob push prod":                          "publish",
		"frob deploy":                             "infrastructure",
		"frob upload a.tgz":                       "send",
		"frob --put a.txt /srv/b.txt":             "send",
		"frob a.txt ann@host:/srv":                "send",
		"frob a.txt s3://bucket/a.txt":            "send",
		"frobmail report.txt ann@example.com":     "mail",
		"frob --to ann@example.com report.txt":    "mail",
		"frob install /dev/sdb":                   "disk",
		"frob -q 'DROP TABLE users'":              "database",
		"frob DELETE https://api.example.com/x/1": "send",
		"cargo frob && npm deploy":                "infrastructure",
		"git -C app deploy":                       "infrastructure",
	} {
		found, _ := find(command)
		if len(found) != 1 || found[0].Kind != kind {
			t.Errorf("%s: %+v: want one finding of kind %s", command, found, kind)
		}
	}
	for _, command := range []string{
		"frob list", "frob build --release", "frob delete --dry-run thing", "frob cleanup", "frob --format json", "frob --skip-upload",
		"frob --no-delete", "frob src/delete.go", "frob 'delete from the list'", "frob get remote:/x .", "frob info /dev/sdb", "lsblk /dev/sda",
		"frob POST http://127.0.0.1:8080/x", "frob push.txt", "echo deploy", "curl -s --unix-socket j.sock -d x http://j/add", "git stash push", "git clone -q app deploy", "git switch -c publish", "npm uninstall left-pad", "rfkill list",
		"frob update", "frob on-delete", "frob --after-delete run",
	} {
		if found, _ := find(command); len(found) > 0 {
			t.Errorf("%s is flagged as %s: %s", command, found[0].Kind, found[0].Why)
		}
	}
}
