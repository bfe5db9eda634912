"""What makes an answer an answer: the KKT measures and the verdict, the levels of proof, separability, portable files.

It may import the problem and what stands below it; ``portable`` also the models, which it builds again from a file.
"""
