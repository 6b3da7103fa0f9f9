import random,time,sys
from indexing import *
from tests.evaluation import related
from hypothesis import given, settings, seed, HealthCheck
from tests.strategies import maps
from collections import Counter
stats=Counter()
@settings(max_examples=int(sys.argv[1]),deadline=None,database=None,suppress_health_check=list(HealthCheck))
@given(maps(),maps(results=1,dims=1),maps(results=1,dims=1))
def t(m,a,b):
    t0=time.time()
    pts=list(m.points()) if not m.is_known_empty else []
    im=m.image(); res={p[3] for p in pts}
    assert list(im)==sorted(res),(str(m),str(im))
    assert im.count()==len(res)==m.count_results()
    assert m.count()==len(pts)
    d=m.domain_set(); assert set(d)=={p[0] for p in pts}
    stats['boxes' if im.boxes is not None else 'cons']+=1
    if im.boxes is None: stats[str(im)]=len(res)
    acc={}
    inj=True
    for p in pts:
        inj&=acc.setdefault(p[3],p[:2])==p[:2]
    assert m.is_injective()==inj
    assert m.sample()==(pts[0] if pts else None)
    fd=a.first_difference(b)
    A,B=related(a),related(b)
    assert a.is_subset(b)==(A<=B)
    if A==B: assert fd is None
    else:
        first=min({p[0] for p in A^B}); assert fd.dims==first
        assert list(fd.left)==sorted(p[1] for p in A if p[0]==first)
        assert fd.element==min(p[1] for p in A^B if p[0]==first)
    dt=time.time()-t0
    stats['time']+=dt
    if dt>1: print('slow',dt,m,a,b,sep='\n')
t()
print(stats['boxes'],stats['cons'],stats['time'])
for k,v in stats.items():
    if k[0]=='(': print(k,v)
