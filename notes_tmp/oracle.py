"""Every effect of recorded cases against the scorer run on rewritten files."""
import json, sys, os, shutil, tempfile, random, traceback, time
sys.path.insert(0, '.')
from pathlib import Path
from cs_score.cli.registry import COMMANDS, load, find
from cs_score.cli.scorer.options import options_of
from cs_score.coldstart.queries.query_files import is_query_file
from cs_score.coldstart.gold import open_gold, noting_folders
from cs_score.coldstart.run import load_run
from cs_score.coldstart.scorer import score
from cs_score.coldstart.result import ScoringStopped
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.cost_list import cost_list
from cs_score.analysis.coldstart.mistakes import mistakes_of
from cs_score.foundation.errors import CsScoreError

def rewritten(removed, added, added_to, folder):
    files = {}
    for r in removed: files.setdefault(r['file'], set()).add(r['line'])
    if added: files.setdefault(added_to, set())
    saved = {}
    for name, gone in files.items():
        p = Path(folder, name); data = p.read_bytes(); saved[name] = data
        lines = data.decode().split('\n')
        tail = lines.pop() if lines[-1] == '' else None
        left = [l for i, l in enumerate(lines, 1) if i not in gone]
        if name == added_to: left += added
        p.write_bytes(''.join(l + '\n' for l in left).encode())
    return saved

def scores_of(queries, files, options, run_id):
    try: result, stop = score(queries, files, options), None
    except ScoringStopped as s: result, stop = s.partial, s
    except CsScoreError as e: return {}, e
    run = next((r for r in result.runs if r.run_id == run_id), None)
    if run is None: return {}, stop or 'no run'
    if stop is not None and not run.tables.sf.rows: return {}, stop
    return run.scores, stop

def main(cases, most):
    total = bad = nulls = 0; ran = 0
    for folder in cases:
        case = json.loads((folder/'case.json').read_text())
        if case.get('program'): continue
        with tempfile.TemporaryDirectory() as tmp:
            shutil.copytree(folder, tmp, dirs_exist_ok=True); os.chdir(tmp)
            try:
                command, words = find(case['args']); line = load(command).read(words)
                options = options_of(line)
                queries = [w for w in line.words if is_query_file(w)]; files = [w for w in line.words if not is_query_file(w)]
                from dataclasses import replace
                options = replace(options, samples=None)
                gold = noting_folders(open_gold(queries, options), files)
                run = load_run(gold, files)
                ids = list(dict.fromkeys(run.run_ids))
                scoreds = [score_for_analysis(run, options.policy, i) for i in ids] or [score_for_analysis(run, options.policy)]
            except CsScoreError as e:
                print(folder.name, 'not analysed:', str(e)[:90]); os.chdir('/work/wt/insight'); continue
            except Exception as e:
                if type(e).__name__ in ('VersionWanted','HelpWanted','SwitchError'): os.chdir('/work/wt/insight'); continue
                print(folder.name); traceback.print_exc(); os.chdir('/work/wt/insight'); bad+=1; continue
            for scored in scoreds:
                try:
                    measure = scored.measure(None)
                    effects = Effects(scored, measure)
                    mistakes = cost_list(effects, measure, mistakes_of(scored, effects.rescoring))
                except CsScoreError as e:
                    print(folder.name, 'no list:', str(e)[:100]); continue
                except Exception:
                    print(folder.name); traceback.print_exc(); bad += 1; continue
                ran += 1
                base = scored.result.scores
                random.seed(1)
                chosen = mistakes if len(mistakes) <= most else random.sample(mistakes, most)
                for m in chosen:
                    j = m.as_json()
                    added_to = effects.rescoring.finding.file.name
                    saved = rewritten(j['removed'], j['added'], added_to, tmp)
                    new, stop = scores_of(queries, files, options, scored.run_id)
                    for n, d in saved.items(): Path(tmp, n).write_bytes(d)
                    total += 1
                    for name, e in j['effects'].items():
                        got = new.get(name)
                        if (e is None) != (got is None) or (e is not None and abs(base[name] + e - got) > 1e-12):
                            bad += 1
                            print('BAD', folder.name, scored.run_id, name, 'base', base.get(name), 'effect', e, 'scorer', got, 'stop', str(stop)[:80], j.get('reason'))
                            print('   ', j['kind'], j['file'], j['line'], j['category'], 'removed', j['removed'][:6], 'added', j['added'])
                            break
                        nulls += e is None
            os.chdir('/work/wt/insight')
    print('runs', ran, 'mistakes', total, 'bad', bad, 'nulls', nulls)
root = Path('/work/shared/golden/coldstart')
pattern = sys.argv[1]; most = int(sys.argv[2])
import re
main([p for p in sorted(root.iterdir()) if p.is_dir() and re.match(pattern, p.name)], most)
