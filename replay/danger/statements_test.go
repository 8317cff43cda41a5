package danger

import "testing"

// TestStatements has what programs are told in languages of their own: by their standard input, in a flag, or
// typed into them by another one.
func TestStatements(t *testing.T) {
	dangerIs(t, map[string]bool{
		`hbase shell <<< "disable 'events'; drop 'events'"`:                             true,
		`hbase shell <<< "list; describe 'events'"`:                                     false,
		"echo 'delete /brokers' | zkCli.sh -server zk.example.com":                      true,
		"echo 'ls /brokers' | zkCli.sh -server zk.example.com":                          false,
		`printf 'lock\nvolume.delete -node a\nunlock\n' | weed shell`:                   true,
		"frob -c 'manage truncate events'":                                              true,
		"frob -e 'box.space.events:drop()'":                                             true,
		"frob -c 'count events'":                                                        false,
		"frob -c 'Remove what is old'":                                                  false,
		"printf 'rm -rf /\n' | shellcheck -":                                            false,
		"ed -s app.ini <<'E'\n/^x/a\nrotate = daily\n.\nw\nE":                           false,
		"ed -s app.ini <<'E'\n!rm -rf /\nE":                                             true,
		"patch -p1 <<'E'\n drop table\n-delete x\nE":                                    false,
		"frob -a bolt://db.example.com -f load.cypher":                                  true,
		"frob -a bolt://localhost -f load.cypher":                                       false,
		"frob -a bolt://db.example.com -f config.json":                                  false,
		`expect -c 'spawn ssh ann@sw1; expect "> "; send "volume delete v1\r"'`:         true,
		`expect -c 'spawn ssh ann@sw1; expect "> "; send "show version\r"'`:             false,
		`expect -c 'spawn ./configure.sh; expect "name"; send "ann\r"'`:                 false,
		"expect <<'E'\nspawn telnet sw1.example.com\nsend \"reload\\r\"\nE":             true,
		"ssh web <<'E'\nuptime\ndf -h\nE":                                               false,
		"ssh web <<'E'\nuptime\nsystemctl restart nginx\nE":                             true,
		`pwsh -c 'Remove-Item -Recurse -Force C:\Users\ann\Documents'`:                  true,
		`pwsh -c 'Remove-Item -Recurse -Force build\out'`:                               false,
		`cmd.exe /c "rd /s /q C:\inetpub\wwwroot"`:                                      true,
		`cmd.exe /c "rd /s /q build\out"`:                                               false,
		`cmd.exe /c "dir /s C:\inetpub"`:                                                false,
		"pwsh -Command 'Invoke-Command -ComputerName web -ScriptBlock { Get-Process }'": false,
	})
}

// TestDestinations has where programs write: devices, other storages, and servers that are sent a body.
func TestDestinations(t *testing.T) {
	dangerIs(t, map[string]bool{
		"borg extract --stdout a home > /dev/vg0/home":                 true,
		"zcat home.gz > /dev/zvol/tank/home":                           true,
		"echo hi > /dev/tty1":                                          false,
		"frob /dev/vg0/home":                                           true,
		"frob /dev/video0":                                             false,
		"http api.example.com/x < a.json":                              true,
		"cat a.json | http api.example.com/x":                          true,
		"http GET api.example.com/x < a.json":                          false,
		"http -I api.example.com/x < a.json":                           false,
		"cat urls | xargs http":                                        false,
		"http api.example.com/x Cookie:a=b q==1":                       false,
		"http api.example.com/x a:=1":                                  true,
		"aws s3 cp a.csv s3://b/a.csv --acl public-read":               true,
		"aws s3 cp s3://b/a.csv a.csv --no-progress --acl public-read": false,
		"frob cp a.csv obs://b/a.csv --storage-class cold":             true,
		"frob cp obs://b/a.csv a.csv --storage-class cold":             false,
		"frob build --output s3://b/a.csv":                             true,
		"frob build --output=https://h.example.com/a":                  true,
		"frob train --data s3://b/a.csv":                               false,
		"frob --webhook-url https://h.example.com/x":                   true,
	})
}

// TestServices has what programs are told about things that are kept for many, whatever the program.
func TestServices(t *testing.T) {
	dangerIs(t, map[string]bool{
		"frob secret set A=b":                  true,
		"frob create incident":                 true,
		"frob dns add x":                       true,
		"frob createAlert --message x":         true,
		"frob feature toggle x":                true,
		"frob secret get A":                    false,
		"frob create file":                     false,
		"frob incidents":                       false,
		"frob set x":                           false,
		"frobrmdestroy x":                      true,
		"frob destroyall x":                    true,
		"frob undelete":                        false,
		"frob deleted":                         false,
		"frob-uploader a":                      true,
		"kaggle datasets version -p d -m x":    true,
		"kaggle --version":                     false,
		"kolla-ansible -i ./m reconfigure":     true,
		"kolla-ansible -i ./m prechecks":       false,
		"salt-key -D -y":                       true,
		"salt-cloud -m web.map -d":             true,
		"salt '*' pillar.get a":                false,
		"salt '*' state.apply":                 true,
		"swift post -r '.r:*' c":               true,
		"swift list c":                         false,
		"swift build":                          false,
		"baremetal node clean n":               true,
		"baremetal node list":                  false,
		"glance image-list":                    false,
		"patronictl -c p.yml switchover main":  true,
		"patronictl -c p.yml list":             false,
		"infisical secrets":                    false,
		"Set-ADUser ann":                       true,
		"Get-ADUser ann":                       false,
		"rake -T deploy":                       false,
		"mvn -B release:prepare -DdryRun=true": false,
		"fastlane scan":                        false,
	})
}
